package alert

import (
	"cmp"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Topic is a kind of alert. The names are stored.
type Topic string

// The topics.
const (
	// jobs are stopped, and why; subject: the reason, and the job if the reason concerns only that
	// job
	Stopped      Topic = "job_stopped"
	InDoubt      Topic = "in_doubt"     // rows without a certain answer; subject: the job
	Rejected     Topic = "rejected"     // too many rejected rows; subject: the job
	NothingNew   Topic = "nothing_new"  // no new row for too long; subject: the job
	LongWaiting  Topic = "long_waiting" // a row waits too long; subject: the job
	SweepMissed  Topic = "sweep_missed" // the last sweep found rows that the windows had missed; subject: the job
	Contradicted Topic = "contradicted" // a late answer contradicts what a person decided; subject: the job
	// a late answer ended a person's decision; subject: the job. It is an event, so no message
	// reports that it is over
	LateAnswer  Topic = "late_answer"
	DiskFull    Topic = "disk"            // too little space for ledger or journal; subject: host and folder
	Certificate Topic = "certificate"     // the API's certificate expires soon; subject: "api"
	Silent      Topic = "webhooks_silent" // no event came although records were confirmed; subject: "webhooks"
	Unheard     Topic = "webhooks_unread" // events came and are not processed; subject: "webhooks"
	// accounts were created or changed while an act waits for another person; subject: "accounts". People
	// are told of each
	Accounts  Topic = "accounts_changed"
	NoLedger  Topic = "ledger_unknown" // the ledger cannot be read; therefore kept in memory
	BackupOld Topic = "backup_old"     // the last copy of the ledger is too old; subject: "ledger"
	Unseen    Topic = "witness_late"   // the ledger's witness is not written; subject: the host
)

// ofAccounting are the topics that accounting can end.
var ofAccounting = []Topic{InDoubt, Rejected, LongWaiting, Contradicted, LateAnswer}

// groupOf returns whom an alert calls.
func groupOf(topic Topic, d Detail) trade.Department {
	switch {
	case d.Group != "":
		return d.Group
	case slices.Contains(ofAccounting, topic):
		return trade.Accounting
	case topic == Stopped:
		return cmp.Or(trade.ExplainStop(d.Code, trade.English).Fixer.Department(), trade.IT)
	}
	return trade.IT
}

// Times that cannot be configured.
const (
	// Settling is how long a condition must be gone before its alert is over.
	Settling = 10 * time.Minute
	// GiveUp is how long delivery of a message is attempted.
	GiveUp = 7 * 24 * time.Hour

	doubtLasts       = 2 * time.Minute  // a row in doubt: its answer may come late
	backingOffLasts  = 30 * time.Minute // an API that does not answer, or asks to wait; usually it passes
	stopSeen         = 2 * time.Minute  // a stop that a person ended between two evaluations is noted
	ledgerLasts      = 3 * time.Minute  // a ledger that cannot be read
	certificateSoon  = 14 * 24 * time.Hour
	witnessLasts     = 5 * time.Minute  // a witness that is not written
	unheardLasts     = 30 * time.Minute // events that are not processed
	unheardMost      = 1000             // likewise, from this number of events on
	lateAnswerLasts  = 24 * time.Hour
	runningUnsettled = 10 * time.Minute // a job that has run for less may stop again for the same reason
)

// Detail is the content of an alert's messages; it is stored with the alert.
type Detail struct {
	Code   string    `json:"code,omitempty"` // of a stop
	Jobs   []Job     `json:"jobs,omitempty"`
	Rows   int       `json:"rows,omitempty"`
	Usual  int       `json:"usual,omitempty"` // usual number of new rows in a reading, with a brake
	Limit  int       `json:"limit,omitempty"`
	Oldest time.Time `json:"oldest,omitzero"`
	Folder string    `json:"folder,omitempty"`
	Host   string    `json:"host,omitempty"`
	Free   uint64    `json:"free,omitempty"` // bytes
	Ends   time.Time `json:"ends,omitzero"`
	Late   int64     `json:"late_seconds,omitempty"`
	Record int64     `json:"record,omitempty"` // of the audit, the last of those of Accounts
	// changes of accounts while something waits
	Accounts int              `json:"accounts,omitempty"`
	Causes   []Cause          `json:"causes,omitempty"` // of the rows, for the first message only
	Group    trade.Department `json:"group,omitempty"`  // that can end most of the causes; "" = that of the topic
}

// job returns the name of the first job; "" if it is about none.
func (d Detail) job() string {
	if len(d.Jobs) == 0 {
		return ""
	}
	return d.Jobs[0].Name
}

// Job names a job and what it sends.
type Job struct {
	Name  string     `json:"name"`
	Sends trade.Kind `json:"sends"`
	// NothingNew is the working time without a new row after which people are told; 0 means never.
	NothingNew time.Duration `json:"-"`
}

// Cause is what blocks rows: one task for a person. It holds no key and no value of the ERP.
type Cause struct {
	State    trade.State         `json:"state"`
	Cause    string              `json:"cause"` // as in trade.Entry
	Problem  *trade.Problem      `json:"problem,omitempty"`
	Awaited  *trade.Awaited      `json:"awaited,omitempty"` // a parent for which the rows wait
	Rows     int                 `json:"rows"`
	Subjects int                 `json:"subjects,omitempty"` // codes or values that are the cause; 0 if it is the row itself
	Oldest   time.Time           `json:"oldest"`             // when the oldest of the rows was first seen
	Volumes  []trade.ProductSums `json:"volumes,omitempty"`  // of the rows, by product
	Owner    string              `json:"owner,omitempty"`    // who takes care of it
	Note     string              `json:"note,omitempty"`
	Until    time.Time           `json:"until,omitzero"` // the day on which people are reminded again
}

// Limits are the configured thresholds.
type Limits struct {
	RejectedAbove int           // people are told above this number of rejected rows of a job
	OldestWaiting time.Duration // working time; 0 means never
	Silence       time.Duration // working time without an event of the platform; 0 means never
	BackupOlder   time.Duration // time without a copy of the ledger; 0 means never
}

// condition is a state about which people must be told, as long as it holds.
type condition struct {
	topic   Topic
	subject string
	since   time.Time
	lasts   time.Duration // how long it must hold before people are told
	detail  Detail
}

package alert

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Topic is a kind of alert. The names are stored.
type Topic string

// The topics.
const (
	// jobs do not move, and why; subject: the reason, and the job where the reason is its own
	Stopped      Topic = "job_stopped"
	InDoubt      Topic = "in_doubt"     // rows without a certain answer; subject: the job
	Rejected     Topic = "rejected"     // too many refusals; subject: the job
	NothingNew   Topic = "nothing_new"  // no new row when there should be one; subject: the job
	LongWaiting  Topic = "long_waiting" // a row waits too long; subject: the job
	SweepMissed  Topic = "sweep_missed" // the last sweep found rows that the windows had missed; subject: the job
	Contradicted Topic = "contradicted" // a late answer contradicts what a person decided; subject: the job
	// a late answer ended what a person had decided; subject: the job. It is never over: it
	// happened
	LateAnswer  Topic = "late_answer"
	DiskFull    Topic = "disk"            // little room for ledger or journal; subject: host and folder
	Certificate Topic = "certificate"     // the API's certificate ends soon; subject: "api"
	Silent      Topic = "webhooks_silent" // no event came although records were confirmed; subject: "webhooks"
	Unheard     Topic = "webhooks_unread" // events came and are not looked at; subject: "webhooks"
	NoLedger    Topic = "ledger_unknown"  // the ledger cannot be read; kept in memory, because there is nowhere else
)

// The times that are not configured.
const (
	// Settling is how long something must be gone before it is over.
	Settling = 10 * time.Minute
	// GiveUp is how long a message is tried.
	GiveUp = 7 * 24 * time.Hour

	doubtLasts       = 2 * time.Minute  // a row in doubt: its answer may come late
	backingOffLasts  = 30 * time.Minute // an API that does not answer, or asks to wait: it mostly passes
	ledgerLasts      = 3 * time.Minute  // a ledger that cannot be read
	certificateSoon  = 14 * 24 * time.Hour
	unheardLasts     = 30 * time.Minute // events that are not looked at
	unheardMost      = 1000             // the same: so many at least
	lateAnswerLasts  = 24 * time.Hour
	runningUnsettled = 10 * time.Minute // a job that has run for less may stop again for the same reason
)

// Detail is what a message of an alert tells; stored with the alert.
type Detail struct {
	Code   string    `json:"code,omitempty"` // of a stop
	Jobs   []Job     `json:"jobs,omitempty"`
	Rows   int       `json:"rows,omitempty"`
	Usual  int       `json:"usual,omitempty"` // new rows of a usual reading, beside a brake
	Limit  int       `json:"limit,omitempty"`
	Oldest time.Time `json:"oldest,omitzero"`
	Folder string    `json:"folder,omitempty"`
	Host   string    `json:"host,omitempty"`
	Free   uint64    `json:"free,omitempty"` // bytes
	Ends   time.Time `json:"ends,omitzero"`
	Late   int64     `json:"late_seconds,omitempty"`
	Causes []Cause   `json:"-"` // of the rows, for the first message only
}

// Job names a job and what it sends.
type Job struct {
	Name  string     `json:"name"`
	Sends trade.Kind `json:"sends"`
	// NothingNew is the working time without a new row after which people are told; 0 = never.
	NothingNew time.Duration `json:"-"`
}

// Cause is what keeps rows from going: one task for a person.
type Cause struct {
	State    trade.State
	Ref      string // de-para kind, where a missing id is the cause
	What     string
	Who      string
	Do       string
	Rows     int
	Subjects int       // codes or values that are to blame; 0 where it is the row itself
	Oldest   time.Time // first sight of the oldest of the rows
	Volumes  []Volume  // of the rows, each product apart
}

// Volume is a weight of one product.
type Volume struct {
	Product   string // "" = not known
	Rows      int
	Kilograms trade.Decimal
	Unweighed int // rows without a weight that can be read
}

// Limits are the configured thresholds.
type Limits struct {
	RejectedAbove int           // people are told above so many refused rows of a job
	OldestWaiting time.Duration // working time; 0 = never
	Silence       time.Duration // working time without an event of the platform; 0 = never
}

// condition is something of which people should know, as long as it is so.
type condition struct {
	topic   Topic
	subject string
	since   time.Time
	lasts   time.Duration // how long it must be so before people are told
	detail  Detail
}

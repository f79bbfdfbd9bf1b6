package pages

import (
	"context"
	"io"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Causes are what keeps rows from going.
type Causes interface {
	// Stuck groups what did not go by what keeps it, in a language. fresh: after an act, whose
	// effect must be seen.
	Stuck(ctx context.Context, lang trade.Lang, fresh bool) (Stuck, error)
	// Expect says that somebody will soon ask for that, so that the first look, which takes
	// longest, begins. It does not wait.
	Expect()
}

// Doubts tells of rows that may be on the platform.
type Doubts interface {
	// Doubt reports how such a row stands.
	Doubt(ctx context.Context, entry trade.Entry) (Doubt, error)
	// Hints returns what is known of a row beyond the answers to its own requests.
	Hints(ctx context.Context, entry trade.Entry, attempts []trade.Attempt) (Hints, error)
}

// Consents are what others have to agree to before it is done.
type Consents interface {
	// Approvals gives the acts that wait, the oldest first.
	Approvals(ctx context.Context) ([]trade.Approval, error)
	// ReviewApproval returns one of them with its plan as it is now; one that is not known:
	// trade.ErrNotFound.
	ReviewApproval(ctx context.Context, id int64) (Waits, error)
	// Approve and Decline keep what a person says to it.
	Approve(ctx context.Context, id int64, who acts.Person) (acts.Decided, error)
	Decline(ctx context.Context, id int64, who acts.Person) (acts.Decided, error)
	// Propose keeps a code of a de-para until somebody else agrees. A code that is blank, or an id
	// that is none, is an error of ReferenceFault.
	Propose(ctx context.Context, kind, code, id string, who acts.Person) (*trade.Approval, error)
}

// Waits is an act that waits for somebody's consent.
type Waits struct {
	Approval trade.Approval
	Planned  acts.Planned
	Review   acts.Review // zero for what is planned again only when it is done
	Lapsed   bool
}

// Tables reads and changes the de-para where people may. Orders go through the same code as those
// of the command line.
type Tables interface {
	// ReferenceSource reports where a kind of reference is kept: ledger, erp, platform.
	ReferenceSource(kind string) string
	// ReadReferences reads a CSV of codes and ids, and says what it would change of a kind; nothing
	// is stored.
	ReadReferences(ctx context.Context, kind string, file io.Reader, lang trade.Lang) (ReferencePlan, error)
	// SetReferences stores codes, and the labels of some. A code that is blank, or an id that is
	// none, is an error of ReferenceFault.
	SetReferences(ctx context.Context, kind string, codes, labels map[string]string, act string,
		who acts.Person) (added, changed int, err error)
	// RemoveReference takes one code out; removed is false when it was not there.
	RemoveReference(ctx context.Context, kind, code string, who acts.Person) (removed bool, err error)
	// WriteReferences writes a table as ReadReferences reads it.
	WriteReferences(ctx context.Context, kind string, w io.Writer) error
}

// Scheduling is the times of the jobs, and what people order for a job.
type Scheduling interface {
	// Schedules returns the jobs with their schedules and where they stand.
	Schedules(ctx context.Context, lang trade.Lang) ([]Schedule, error)
	// AdviseStop says why a job does not move, and what to do.
	AdviseStop(stop trade.Stop, lang trade.Lang) trade.Advice
	// PlanJob says what an act on a job would do: pause, resume, release, run.
	PlanJob(ctx context.Context, act, job string, who acts.Person) (JobPlan, error)
	// DoJob does what a plan with this mark showed; when something has moved since, nothing is done
	// and Refused says so.
	DoJob(ctx context.Context, act, job, mark string, who acts.Person) (JobPlan, error)
}

// Stuck is what keeps rows from going, at one moment.
type Stuck struct {
	At     time.Time
	Causes []Cause
	Moving int // rows that wait for a contract which is on its way

	Reading int // so many rows are being read; nothing else is known yet. 0: all is known
}

// Cause is one thing that keeps rows from going, with what is told of it.
type Cause struct {
	pending.Group
	Advice trade.Advice
	More   int // codes that are not in Subjects
}

// Rows counts the rows that the cause keeps.
func (c Cause) Rows() int { return c.Group.Rows() }

// Retry counts the rows that may be tried again at once.
func (c Cause) Retry() int {
	n := 0
	for _, p := range c.Own {
		n += p.Retry
	}
	return n
}

// Doubt is how a row that may be on the platform stands.
type Doubt struct {
	Attempts  []trade.Attempt
	Phase     string // how far the last request got; "" = nobody noted it
	Remaining time.Duration
	Look      []acts.FieldReading
}

// Hints are what is known of a row beyond the answers to its own requests. They prove nothing.
type Hints struct {
	Heard      []trade.Heard     // of its record, its producer, its farm or its contract, the newest first
	Doubtful   bool              // the row is in doubt: the rest is filled in
	Readable   bool              // the platform tells of records of its kind, and lets them be read back
	Listening  bool              // webhooks are registered, or events came
	Events     int               // that came since the request in doubt
	Own        int               // of these, of order commitments
	Records    []Suggestion      // what the row may be, the nearest first
	Several    bool              // more than one record has all that was sent
	Compared   int               // with how many records the row was compared, where there are more; 0: with all
	Unreadable []string          // ids of records of which events told, and that could not be read
	There      map[string]string // what the platform showed of the row's own record; nil: nothing
}

// Suggestion is a record of which an event told, that was read back, and that a row in doubt may
// be. A person decides.
type Suggestion struct {
	ID      string
	Event   string
	At      time.Time // when an event told of it first
	Attempt int       // number of the attempt that it was compared with
	Full    bool      // everything that was sent is the same
	Fits    bool      // it was certainly made while the request could be executed
	Same    int
	Differ  int
	Unseen  int // fields that were sent and that the platform does not show
	Fields  []acts.FieldReading
}

// Differing names the fields in which the platform has another value than was sent.
func (s Suggestion) Differing() []string {
	var out []string
	for _, f := range s.Fields {
		if f.There != nil && !f.Same {
			out = append(out, f.Field)
		}
	}
	return out
}

// ReferencePlan is what an import would do.
type ReferencePlan struct {
	Codes     map[string]string
	Labels    map[string]string // nil: the file has none
	Renamed   int               // codes that are there and get another label
	Changes   []trade.ReferenceChange
	Unchanged int
	Bad       []BadLine
	Fault     string // why the file is no table at all; "" = it is one
}

// BadLine is a line that cannot be imported.
type BadLine struct {
	Line int
	Text string
}

// ReferenceFault says that a code or an id cannot be used.
type ReferenceFault struct{ Code, ID string }

func (f *ReferenceFault) Error() string {
	return "the code must not be blank, and the id must be a UUID"
}

// Schedule is a job with its times.
type Schedule struct {
	Job    string
	Sends  trade.Kind
	Times  []ScheduleTimes
	Hours  []string // when it may send; none: always
	Status trade.JobStatus
	Alone  bool // it runs by hand only
}

// ScheduleTimes is one schedule of a job.
type ScheduleTimes struct {
	Sweep bool
	Text  string // as it is configured
	Words string
	Next  []time.Time
}

// JobPlan is what an act on a job would do.
type JobPlan struct {
	Act     string
	Job     string
	Refused string // code of the engine; "" = it can be done
	Before  trade.JobStatus
	Lets    []string // what a release lets go, in words
	Mark    string
	Done    bool
	Asked   *trade.Approval // others have to agree first; nothing was done
}

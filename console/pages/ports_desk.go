package pages

import (
	"context"
	"io"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Causes reads what blocks rows.
type Causes interface {
	// Stuck returns the stuck rows grouped by cause, in a language. fresh is set after an act,
	// whose effect must be visible.
	Stuck(ctx context.Context, lang trade.Lang, fresh bool) (Stuck, error)
	// Expect announces a call of Stuck, so that the first read, which takes longest, begins now. It
	// does not wait.
	Expect()
}

// Doubts reads what is known of rows that may be on the platform.
type Doubts interface {
	// Doubt returns the state of such a row.
	Doubt(ctx context.Context, entry trade.Entry) (Doubt, error)
	// Counterpart returns what a held row was compared with; nil if nothing is known.
	Counterpart(ctx context.Context, entry trade.Entry) (*acts.Counterpart, error)
	// Renumbered returns the row that is, or may be, the same document under another key: it has the
	// record of this one now, had it before, or is held because of it. The zero entry: none is known.
	Renumbered(ctx context.Context, entry trade.Entry) (trade.Entry, error)
	// Hints returns what is known of a row beyond the answers to its own requests.
	Hints(ctx context.Context, entry trade.Entry, attempts []trade.Attempt) (Hints, error)
}

// Consents handles acts to which other people must agree first.
type Consents interface {
	// Approvals returns the acts that wait, oldest first.
	Approvals(ctx context.Context) ([]trade.Approval, error)
	// ReviewApproval returns one waiting act with its plan as of now. It returns trade.ErrNotFound
	// if the id is unknown.
	ReviewApproval(ctx context.Context, id int64) (Waits, error)
	// Approve and Decline record a person's answer.
	Approve(ctx context.Context, id int64, who acts.Person) (acts.Decided, error)
	Decline(ctx context.Context, id int64, who acts.Person) (acts.Decided, error)
	// Propose stores a code of a de-para until somebody else agrees. It returns a ReferenceFault if
	// the code is blank or the id invalid.
	Propose(ctx context.Context, kind, code, id string, who acts.Person) (*trade.Approval, error)
}

// Waits is an act that waits for somebody's consent.
type Waits struct {
	Approval trade.Approval
	Planned  acts.Planned
	Review   acts.Review  // zero if the act is planned again only when it is done
	Closing  *ClosingPlan // what the first person was shown of a closing; nil: it is none
	Lapsed   bool
}

// Tables reads and changes the de-para, with the same code as the command line.
type Tables interface {
	// ReferenceSource returns where a kind of reference is stored: ledger, erp, platform.
	ReferenceSource(kind string) string
	// ReadReferences reads a CSV of codes and ids, and returns what it would change. It stores
	// nothing.
	ReadReferences(ctx context.Context, kind string, file io.Reader, layout ReferenceLayout, lang trade.Lang,
	) (ReferencePlan, error)
	// SetReferences stores codes, and labels for some of them. It returns a ReferenceFault if a
	// code is blank or an id invalid.
	SetReferences(ctx context.Context, kind string, codes, labels map[string]string, act string,
		who acts.Person) (added, changed int, err error)
	// RemoveReference removes one code; removed is false if there was none.
	RemoveReference(ctx context.Context, kind, code string, who acts.Person) (removed bool, err error)
	// NormalCode returns a code in the form in which the table stores it.
	NormalCode(code string) string
	// WriteReferences writes a table in the form that ReadReferences reads.
	WriteReferences(ctx context.Context, kind string, w io.Writer) error
}

// Scheduling reads the schedules of the jobs, and does people's acts on jobs.
type Scheduling interface {
	// Schedules returns the jobs with their schedules and states.
	Schedules(ctx context.Context, lang trade.Lang) ([]Schedule, error)
	// AdviseStop returns why a job is stopped, and what to do.
	AdviseStop(stop trade.Stop, lang trade.Lang) trade.Advice
	// PlanJob returns what an act on a job would do: pause, resume, release, run.
	PlanJob(ctx context.Context, act, job string, who acts.Person) (JobPlan, error)
	// DoJob does what a plan with this mark showed. If the job has changed since, it does nothing
	// and sets Refused.
	DoJob(ctx context.Context, act, job, mark string, checked bool, who acts.Person) (JobPlan, error)
}

// Stuck is what blocks rows at one moment.
type Stuck struct {
	At     time.Time
	Causes []Cause
	Moving int // rows that wait for a contract in flight

	Reading int // number of rows being read; the rest is not known yet. 0: all is known
}

// Cause is one cause that blocks rows, with the advice.
type Cause struct {
	pending.Group
	Advice trade.Advice
	More   int // codes beyond those in Subjects
}

// Rows returns the number of rows that the cause blocks.
func (c Cause) Rows() int { return c.Group.Rows() }

// Retry returns the number of rows that may be retried at once.
func (c Cause) Retry() int {
	n := 0
	for _, p := range c.Own {
		n += p.Retry
	}
	return n
}

// Doubt is what is known of a row that may be on the platform.
type Doubt struct {
	Attempts  []trade.Attempt
	Phase     string // how far the last request got; "" = not recorded
	Remaining time.Duration
	Look      []acts.FieldReading
}

// Hints are what is known of a row beyond the answers to its own requests. They prove nothing.
type Hints struct {
	Heard      []trade.EventNote // events about its record, producer, farm or contract, newest first
	Doubtful   bool              // the row is in doubt, and the fields below are set
	Readable   bool              // the platform sends events of its kind, and the record can be read back
	Listening  bool              // webhooks are registered, or events have come
	Events     int               // since the request in doubt
	Own        int               // of these, events of order commitments
	Records    []Suggestion      // records that the row may be, most similar first
	Several    bool              // more than one record matches everything that was sent
	Compared   int               // number of records compared, if there are more; 0: all
	Unreadable []string          // ids from events whose records could not be read
}

// Suggestion is a record that an event named, that was read back, and that a row in doubt may be. A
// person decides.
type Suggestion struct {
	ID      string
	Event   string
	At      time.Time // of the first event about it
	Attempt int       // number of the attempt that it was compared with
	Full    bool      // everything that was sent matches
	Fits    bool      // it was certainly created while the request could be executed
	Same    int
	Differ  int
	Unseen  int // fields that were sent and that the platform does not show
	Fields  []acts.FieldReading
}

// Differing returns the fields whose value on the platform differs from what was sent.
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
	Renamed   int               // existing codes that get another label
	Changes   []trade.ReferenceChange
	Unchanged int
	Bad       []BadLine
	LeftOut   int    // lines that do not meet the filter
	Text      string // the file, as UTF-8
	Fault     string // why the file is not such a table; "" if it is
}

// ReferenceLayout says where in a file the references are, as a person typed it. The zero value is a
// file with the header code,id or code,id,label.
type ReferenceLayout struct {
	Code, ID, Label, Where, Pad string
	Document                    bool // the code is a CPF or CNPJ
}

// BadLine is a line that cannot be imported.
type BadLine struct {
	Line int
	Text string
}

// ReferenceFault means that a code or an id cannot be used.
type ReferenceFault struct {
	Code, ID string
	Blank    bool // the code is blank
}

// What returns which of the two it is, as a part of a phrase's key.
func (f *ReferenceFault) What() string {
	if _, err := trade.ParseID(f.ID); err != nil && !f.Blank {
		return "id"
	}
	return "code"
}

func (f *ReferenceFault) Error() string {
	return "the code must not be blank, and the id must be a UUID"
}

// Schedule is a job with its schedules.
type Schedule struct {
	Job    string
	Sends  trade.Kind
	Times  []ScheduleTimes
	Hours  []string // hours in which it may send; none: always
	Status trade.JobStatus
	Alone  bool // it runs by hand only
}

// ScheduleTimes is one schedule of a job.
type ScheduleTimes struct {
	Sweep bool
	Text  string // as configured
	Words string
	Next  []time.Time
}

// JobPlan is what an act on a job would do.
type JobPlan struct {
	Act     string
	Job     string
	Refused string // code of the engine; "" = it can be done
	Before  trade.JobStatus
	Lets    []string // what a release allows: brake, stop, sweep
	// what is known to exist of rows that a release may make twice; nil: nothing may be
	Exists *acts.Existing
	Mark   string
	Done   bool
	Asked  *trade.Approval // others must agree first; nothing was done
}

package console

import (
	"context"
	"strings"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// People keeps users and their logins. Its errors are trade.ErrNobody, ErrTaken and
// ErrLastAdministrator where they apply.
type People interface {
	Users(ctx context.Context) ([]trade.User, error)
	User(ctx context.Context, name string) (trade.User, error)
	// UserFrom gives the user whom an issuer knows by a subject.
	UserFrom(ctx context.Context, issuer, subject string) (trade.User, error)
	AddUser(ctx context.Context, u trade.User, record trade.AuditRecord) error
	// ChangeUser ends the user's logins; done is false when the user was changed since it was read.
	ChangeUser(ctx context.Context, u trade.User, record trade.AuditRecord) (done bool, err error)

	Login(ctx context.Context, hash string) (trade.Login, error)
	LogIn(ctx context.Context, l trade.Login, replaces, device string, buckets []string, record trade.AuditRecord) error
	LoginSeen(ctx context.Context, hash string, at time.Time) error
	LogOut(ctx context.Context, hash string, record trade.AuditRecord) error
	KnownDevice(ctx context.Context, hash string, user int64, since time.Time) (bool, error)
	// Try counts a try in each bucket before it is known how it ends.
	Try(ctx context.Context, buckets []string, now time.Time,
		next func(trade.Tries) trade.Tries) (allowed bool, until time.Time, err error)
	PruneLogins(ctx context.Context, began, seen, tried, device time.Time) error

	SavedFilters(ctx context.Context, user int64) ([]trade.SavedFilter, error)
	// SaveFilter keeps a search, or removes it when its query is empty. trade.ErrTooMany when the
	// person has so many.
	SaveFilter(ctx context.Context, f trade.SavedFilter, record trade.AuditRecord) error

	// AppendAudit stores one record of an act that changes nothing else.
	AppendAudit(ctx context.Context, record trade.AuditRecord) error
}

// Ledger is what the console reads.
type Ledger interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	// Runs gives the latest passes of a job, the newest first.
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	// RunsEnded calls fn for the passes that ended in a span of time.
	RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error
	// RowPage gives one page of the rows that a question asks for.
	RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error)
	// Entry gives one row, by job and key or by its number; one that is not known: an error for which
	// Options.Unknown is true.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	EntryNo(ctx context.Context, id int64) (trade.Entry, error)
	Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error)
	// Dependents gives rows that wait for a row, at most limit of them.
	Dependents(ctx context.Context, job, key string, limit int) ([]trade.Entry, error)
	// AuditOf gives the acts on a target ("job key"), the newest first.
	AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error)
	Books
}

// Work is the engine as the console knows it: the jobs, and what people may order. Orders go
// through the same code as those of the command line.
type Work interface {
	// Jobs gives the jobs of the configuration in the order in which they run.
	Jobs() []Job
	// Fields puts the values of the ERP and what was sent, or would be, side by side.
	Fields(ctx context.Context, entry trade.Entry) ([]Field, error)
	// FieldsOf does that for several rows, for which the de-para is read once.
	FieldsOf(ctx context.Context, entries []trade.Entry) ([][]Field, error)
	// Stop says in words why a job stands still.
	Stop(stop trade.Stop, lang trade.Lang) string
	// Reason says in one line why a row is as it is; Advice what to do about it.
	Reason(entry trade.Entry, lang trade.Lang) string
	Advice(entry trade.Entry, lang trade.Lang) trade.Advice
	// Attempt says in words how an attempt ended, and how far its request got.
	Attempt(attempt trade.Attempt, lang trade.Lang) (outcome, phase string)
	// Plan says what an order would do, and changes nothing.
	Plan(ctx context.Context, o Order) (Plan, error)
	// Do does what a plan with this mark showed. When something has moved since, nothing is done,
	// Plan.Moved is true, and the plan is as it would be now.
	Do(ctx context.Context, o Order, mark string, who engine.Person) (Plan, error)
	// Progress tells what runs now in this process, and gives a channel that is closed when that
	// changes.
	Progress() ([]Progress, <-chan struct{})
}

// Job is a job as people know it.
type Job struct {
	Name     string
	Title    string // of the configuration; "" = none
	Sends    trade.Kind
	NextRuns []time.Time // the next ones of the schedule; none: it runs by hand only
	Key      []string    // the columns that make its key
}

// Field is one field of the API beside the columns of the ERP that it comes from.
type Field struct {
	Name    string // of the API; "" for columns that become no field alone
	Columns []string
	ERP     []*string // what each column has: nil for NULL
	Numbers []bool    // which of them the database gives as a number
	Reduced bool      // the retention took the values away
	Sent    *string   // in the API's form; nil: absent
	Now     *string   // what would leave now; only with Differs
	Differs bool      // the ERP's row differs from what was sent
	Problem *trade.Problem
	Secret  bool // documents and the like: masked until somebody asks
}

// Order is what a person wants done to rows of a job.
type Order struct {
	Act    Act
	Job    string
	Keys   []string
	States []trade.State // instead of keys: all rows in these states, where the act allows it
	Causes []string      // and with these causes
	Most   int           // of those, the first so many; 0 = all

	ID                 string // adopt: the platform's id
	NoID               bool   // adopt: it was seen there, and its id is not known
	DespiteDifferences bool   // adopt: although the platform's record differs
	Checked            bool   // resend: the platform was looked at
}

// Act is what can be ordered for rows.
type Act string

// The acts.
const (
	Retry       Act = "retry"       // what was certainly not created goes now
	Resend      Act = "resend"      // a row in doubt goes again; it may double
	Adopt       Act = "adopt"       // this is its id on the platform
	Dismiss     Act = "dismiss"     // leave it out
	Reopen      Act = "reopen"      // undo that
	Acknowledge Act = "acknowledge" // what the ERP did to it after it was sent is dealt with
)

// Plan is what an order would do, or did.
type Plan struct {
	Order Order
	Steps []engine.RowStep
	Mark  string // of what it shows: the same as long as no row of it moves
	Moved bool   // something moved since it was shown; nothing was done
	Done  int    // rows to which it was done
}

// Possible counts the rows to which the act can be done.
func (p Plan) Possible() int {
	n := 0
	for _, s := range p.Steps {
		if s.Refused == "" {
			n++
		}
	}
	return n
}

// Progress is how far a job has come that runs now.
type Progress struct {
	Job   string
	Phase string // reading, sending, waiting
	Read  int
	Done  int
	Total int
	Since time.Time
}

// Fill takes the values of some columns from a row; those that the row does not have are left out.
func (f *Field) Fill(entry trade.Entry, columns []string) {
	for _, name := range columns {
		cell, ok := entry.Values[name]
		if !ok {
			continue
		}
		f.Columns = append(f.Columns, name)
		var value *string
		switch cell.Kind {
		case 0:
		case trade.Marked:
			f.Reduced = true
		default:
			value = &cell.Text
		}
		f.ERP, f.Numbers = append(f.ERP, value), append(f.Numbers, strings.IndexByte("inf", cell.Kind) >= 0)
	}
}

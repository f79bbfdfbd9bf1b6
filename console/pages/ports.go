package pages

import (
	"context"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Ports are what the pages read, and by what people order.
type Ports struct {
	Totals     Totals
	Rows       Rows
	Runs       Runs
	Audit      Audit
	Filters    Filters
	Codes      Codes
	Jobs       Jobs
	Words      Words
	Fields     Fields
	Acts       Acts
	Causes     Causes
	Doubts     Doubts
	Tables     Tables
	Scheduling Scheduling
	Reports    Reports
	Sheets     Sheets
	Consents   Consents
	Sessions   Sessions
}

// Sessions knows who asks, and lets people prove who they are.
type Sessions interface {
	// Identify finds the login of a request, if it has one that is not over.
	Identify(q *web.Request) error
	// Proved reports whether the person gave the password lately enough for what may double a
	// record.
	Proved(q *web.Request) bool
	// Prove lets the person give it again; fault is the key of a phrase when it was not right.
	Prove(q *web.Request, password string) (fault string, err error)
}

// Totals are the kept sums of a job, and where it stands.
type Totals interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
}

// Rows reads the rows of the ledger.
type Rows interface {
	// RowPage returns one page of the rows that a question asks for.
	RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error)
	// Entry returns one row, by job and key or by its number; one that is not known:
	// trade.ErrNotFound.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	EntryNo(ctx context.Context, id int64) (trade.Entry, error)
	// Entries returns rows by their numbers, in any order; those that are not known are left out.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error)
	// Dependents returns rows that hang on a row, at most limit of them: first those that wait for
	// it.
	Dependents(ctx context.Context, entry trade.Entry, limit int) ([]trade.Entry, error)
	// Place reports which row of its state one is, the oldest first, and of how many.
	Place(ctx context.Context, entry trade.Entry) (place, of int, err error)
}

// Runs reads the passes.
type Runs interface {
	// Runs returns the latest passes of a job, the newest first.
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	// RunsEnded calls fn for the passes that ended in a span of time.
	RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error
	// Run returns one pass; one that is not known: trade.ErrNotFound.
	Run(ctx context.Context, id string) (trade.RunReport, error)
	// RunPage returns passes of a job, or of all with an empty name, the newest first; after is
	// RunPage.Next of the page before.
	RunPage(ctx context.Context, job, after string, limit int) (trade.RunPage, error)
}

// Audit is what people did.
type Audit interface {
	// AuditOf gives the acts on a target ("job key"), the newest first.
	AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error)
	// AuditPage returns one page of the acts that a question asks for, the newest first.
	AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error)
	// VerifyAudit returns the number of the first record that is not what was written; 0 = all are.
	VerifyAudit(ctx context.Context) (int64, error)
	// AppendAudit stores one record of an act that changes nothing else.
	AppendAudit(ctx context.Context, record trade.AuditRecord) error
}

// Filters keeps the searches of a person.
type Filters interface {
	SavedFilters(ctx context.Context, user int64) ([]trade.SavedFilter, error)
	// SaveFilter keeps a search, or removes it when its query is empty. trade.ErrTooMany when the
	// person has so many.
	SaveFilter(ctx context.Context, f trade.SavedFilter, record trade.AuditRecord) error
}

// Codes reads the de-para.
type Codes interface {
	// Shortages returns the references that are missing, and what waits for them.
	Shortages(ctx context.Context) ([]trade.Shortage, error)
	// ListReferences returns the lines of a de-para table.
	ListReferences(ctx context.Context, kind string) ([]trade.Reference, error)
}

// Jobs are the jobs of the configuration.
type Jobs interface {
	// Jobs returns them in the order in which they run.
	Jobs() []Job
	// Progress reports what runs now in this process, and gives a channel that is closed when that
	// changes.
	Progress() ([]Progress, <-chan struct{})
}

// Words are the sentences that the console shares with the command line.
type Words interface {
	// Stop says in words why a job stands still.
	Stop(stop trade.Stop, lang trade.Lang) string
	// Reason says in one line why a row is as it is; Advice what to do about it.
	Reason(entry trade.Entry, lang trade.Lang) string
	Advice(entry trade.Entry, lang trade.Lang) trade.Advice
	// Attempt says in words how an attempt ended, and by its name how far its request got.
	Attempt(attempt trade.Attempt, lang trade.Lang) (outcome, phase string)
}

// Fields puts the values of the ERP and what was sent, or would be, side by side.
type Fields interface {
	Fields(ctx context.Context, entry trade.Entry) ([]Field, error)
	// FieldsOf does that for several rows, for which the de-para is read once.
	FieldsOf(ctx context.Context, entries []trade.Entry) ([][]Field, error)
}

// Acts are what people order for rows. Orders go through the same code as those of the command
// line.
type Acts interface {
	// Plan says what an order would do, and changes nothing.
	Plan(ctx context.Context, o Order) (Plan, error)
	// Do does what a plan with this mark showed. When something has moved since, nothing is done,
	// Plan.Moved is true, and the plan is as it would be now.
	Do(ctx context.Context, o Order, mark string, who acts.Person) (Plan, error)
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
	Sent    *string   // in the API's form, or what would leave where nothing did; nil: absent
	Now     *string   // what would leave now; only with Differs
	Differs bool      // the ERP's row differs from what was sent
	Problem *trade.Problem
	Secret  bool            // documents and the like: masked until somebody asks
	Code    trade.Reference // of the de-para that gave Sent, with its label; empty: none did
}

// Order is what a person wants done to rows of a job.
type Order = acts.Order

// Act is what can be ordered for rows.
type Act = string

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
	Steps []acts.RowStep
	Mark  string          // of what it shows: the same as long as no row of it moves
	Moved bool            // something moved since it was shown; nothing was done
	Asked *trade.Approval // others have to agree first; nothing was done
	Done  int             // rows to which it was done
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
	Pace  Pace
}

// Pace is since when a job sends, and how much it had done then.
type Pace struct {
	Since time.Time
	Done  int
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

// Said is what a column of the ERP has, as people of the language write it. Numbers that the ERP
// has as text stay as they are.
func (f Field) Said(v view.Voice, column int) string {
	value := f.ERP[column]
	if value == nil {
		return ""
	}
	if _, err := trade.ParseDecimal(*value); err == nil && !f.Numbers[column] {
		return *value
	}
	return v.Said(f.Name, *value)
}

// Line is what the columns of the ERP have, joined as codes are.
func (f Field) Line() string {
	var parts []string
	for _, value := range f.ERP {
		if value != nil {
			parts = append(parts, strings.TrimSpace(*value))
		}
	}
	return strings.Join(parts, "|")
}

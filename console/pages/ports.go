package pages

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Ports are the interfaces through which the pages read and act.
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

// Sessions identifies people and lets them prove their identity.
type Sessions interface {
	// Identify sets the login of a request, if it has one that has not expired.
	Identify(q *web.Request) error
	// Proved reports whether the person gave the password recently enough for an act that may
	// double a record.
	Proved(q *web.Request) bool
	// Prove checks the password again; fault is the key of a phrase if it was wrong or missing.
	Prove(q *web.Request, password string) (fault string, err error)
}

// Totals reads the stored sums of a job, and its status.
type Totals interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
}

// Rows reads the rows of the ledger.
type Rows interface {
	// RowPage returns one page of the rows that a query selects.
	RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error)
	// Entry and EntryByID return one row, by job and key or by id. They return trade.ErrNotFound if
	// there is none.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	EntryByID(ctx context.Context, id int64) (trade.Entry, error)
	// Entries returns rows by their ids, in any order; it omits unknown ids.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error)
	// Dependents returns at most limit rows that depend on a row, first those that wait for it.
	Dependents(ctx context.Context, entry trade.Entry, limit int) ([]trade.Entry, error)
	// Place returns the position of a row among the rows in its state, oldest first, and their
	// number.
	Place(ctx context.Context, entry trade.Entry) (place, of int, err error)
}

// Runs reads the passes.
type Runs interface {
	// Runs returns the latest passes of a job, newest first.
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	// RunsEnded calls fn for each pass that ended in a period.
	RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error
	// Run returns one pass. It returns trade.ErrNotFound if the id is unknown.
	Run(ctx context.Context, id string) (trade.RunReport, error)
	// RunPage returns passes of a job, or of all jobs if the name is empty, newest first. after is
	// RunPage.Next of the previous page.
	RunPage(ctx context.Context, job, after string, limit int) (trade.RunPage, error)
}

// Audit reads and writes the audit of people's acts.
type Audit interface {
	// AuditOf returns the acts on a target ("job key"), newest first.
	AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error)
	// AuditPage returns one page of the acts that a query selects, newest first.
	AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error)
	// VerifyAudit compares the audit with its own hashes and with the journal.
	VerifyAudit(ctx context.Context) (trade.AuditProof, error)
	// AppendAudit stores one record of an act that changes nothing else.
	AppendAudit(ctx context.Context, record trade.AuditRecord) error
}

// Filters stores the searches of a person.
type Filters interface {
	SavedFilters(ctx context.Context, user int64) ([]trade.SavedFilter, error)
	// SaveFilter stores a search, or removes it if its query is empty. It returns trade.ErrTooMany
	// if the person has too many.
	SaveFilter(ctx context.Context, f trade.SavedFilter, record trade.AuditRecord) error
}

// Codes reads the de-para.
type Codes interface {
	// Shortages returns the missing references, and the rows that wait for them.
	Shortages(ctx context.Context) ([]trade.Shortage, error)
	// ListReferences returns the lines of a de-para table.
	ListReferences(ctx context.Context, kind string) ([]trade.Reference, error)
}

// Jobs reads the configured jobs.
type Jobs interface {
	// Jobs returns them in the order in which they run.
	Jobs() []Job
	// Progress returns what is running in this process now.
	Progress() Running
}

// Words returns the texts that the console shares with the command line.
type Words interface {
	// Stop returns why a job is stopped.
	Stop(stop trade.Stop, lang trade.Lang) string
	// Reason returns one line about why a row is in its state; Advice returns what to do about it.
	Reason(entry trade.Entry, lang trade.Lang) string
	Advice(entry trade.Entry, lang trade.Lang) trade.Advice
	// Known returns what is known to exist on the platform of the row of a step, and of the one that
	// it was compared with.
	Known(step acts.RowStep, lang trade.Lang) []string
	// Exists returns what is known to exist of rows that a release may make twice; none: nothing may.
	Exists(e *acts.Existing, lang trade.Lang) []string
	// Attempt returns how an attempt ended, and the name of the phase that its request reached.
	Attempt(attempt trade.Attempt, lang trade.Lang) (outcome, phase string)
}

// Fields returns the ERP's values of a row beside what was sent, or would be.
type Fields interface {
	Fields(ctx context.Context, entry trade.Entry) (Sides, error)
	// FieldsOf is Fields for several rows; it reads the de-para only once.
	FieldsOf(ctx context.Context, entries []trade.Entry) ([]Sides, error)
}

// Sides is a row as the ERP has it, as it was sent, and as the platform has it, and of when each
// of them is.
type Sides struct {
	Fields  []Field
	ERP     Reading
	SentAt  time.Time // zero: it was never sent, or not by this ledger
	AskedAt time.Time // when the platform was last asked, or answered; zero: never
	Told    bool      // its values were in that answer
}

// Reading is when the ERP was read for a job.
type Reading struct {
	At    time.Time   // of the last reading that came to its end; zero: none is known
	Whole time.Time   // if that read only what had changed: of the last complete one
	Tried time.Time   // of a later pass that has not read it to its end; zero: there is none
	Why   *trade.Stop // of that pass; nil: it runs, or was interrupted
}

// Acts plans and does people's orders for rows, with the same code as the command line.
type Acts interface {
	// Plan returns what an order would do. It changes nothing.
	Plan(ctx context.Context, o Order) (Plan, error)
	// Do does what a plan with this mark showed. If a row has changed since, it does nothing and
	// returns the new plan with Moved set.
	Do(ctx context.Context, o Order, mark string, who acts.Person) (Plan, error)
}

// Job is a job as it is shown.
type Job struct {
	Name     string
	Title    string // configured title; "" = none
	Sends    trade.Kind
	NextRuns []time.Time // next times of the schedule; none: it runs by hand only
	Key      []string    // columns of its key
}

// Field is one field of the API beside its source columns in the ERP.
type Field struct {
	Name    string // in the API; "" for columns that are not mapped to a field alone
	Columns []string
	ERP     []*string // value of each column in the newest reading of the ERP; nil for NULL
	Numbers []bool    // which of them are numbers in the database
	Reduced bool      // retention has removed the values
	Sent    *string   // in the API's form; what would be sent if nothing was; nil: absent
	Now     *string   // what would be sent now; only with Differs
	Differs bool      // the ERP's row differs from what was sent
	Problem *trade.Problem
	Secret  bool            // documents and the like: masked unless revealed
	Code    trade.Reference // the de-para entry that produced Sent; empty: none
	NowCode trade.Reference // the de-para entry of the ERP's present code; empty: none
	There   *string         // what the platform has, as it was last read; nil: not read
	Apart   bool            // it is not what was sent
}

// Order is what a person wants done to rows of a job.
type Order = acts.Order

// Act is what can be ordered for rows.
type Act = string

// The acts.
const (
	Retry       Act = "retry"       // send now what was certainly not created
	Resend      Act = "resend"      // send a row in doubt again; it may be doubled
	Adopt       Act = "adopt"       // store its id on the platform
	Dismiss     Act = "dismiss"     // leave it out
	Reopen      Act = "reopen"      // undo that
	Acknowledge Act = "acknowledge" // changes in the ERP after sending have been dealt with
)

// Plan is what an order would do, or did.
type Plan struct {
	Order Order
	Steps []acts.RowStep
	Mark  string          // identifies its content: equal while no row of it changes
	Moved bool            // a row has changed since it was shown; nothing was done
	Asked *trade.Approval // others must agree first; nothing was done
	Done  int             // rows that were changed
}

// Possible returns the number of rows to which the act can be done.
func (p Plan) Possible() int {
	n := 0
	for _, s := range p.Steps {
		if s.Refused == "" {
			n++
		}
	}
	return n
}

// Running is what is running in a process at one moment.
type Running struct {
	Jobs    []Progress
	Ended   string          // another text after each run that ended
	Changed <-chan struct{} // closed when any of this changes
}

// Progress is the progress of a running job.
type Progress struct {
	Job   string
	Phase string // reading, sending, waiting
	Read  int
	Done  int
	Total int
	Since time.Time
	Pace  Pace
}

// Pace is when a job began to send, and how much was done then.
type Pace struct {
	Since time.Time
	Done  int
}

// Fill copies the values of some columns from the newest reading of a row; it omits columns that the
// row does not have.
func (f *Field) Fill(entry trade.Entry, columns []string) {
	values := entry.NewestValues()
	for _, name := range columns {
		cell, ok := values[name]
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

// Said returns the value of a column of the ERP, formatted for people. Numbers that the ERP stores
// as text remain unchanged.
func (f Field) Said(v view.Voice, column int) string {
	value := f.ERP[column]
	switch {
	case value == nil:
		return ""
	case f.Raw(column):
		return *value
	}
	return v.Said(f.Name, *value)
}

// hide replaces each text of the field by what a function returns for it, which masks documents. The
// function is also given the name of the column, or of the field.
func (f *Field) hide(hidden func(name, text string) string) {
	hide := func(name string, text *string) *string {
		if text == nil {
			return nil
		}
		shown := hidden(name, *text)
		return &shown
	}
	f.ERP = slices.Clone(f.ERP)
	all := f.Name
	for i, text := range f.ERP {
		f.ERP[i] = hide(f.Columns[i], text)
		all += " " + f.Columns[i]
	}
	f.Sent, f.Now, f.There = hide(all, f.Sent), hide(all, f.Now), hide(all, f.There)
	f.Code.Label, f.NowCode.Label = hidden("", f.Code.Label), hidden("", f.NowCode.Label)
}

// Raw reports whether a column has a number that the ERP stores as text, which is shown as it is.
func (f Field) Raw(column int) bool {
	value := f.ERP[column]
	if value == nil || f.Numbers[column] {
		return false
	}
	_, err := trade.ParseDecimal(*value)
	return err == nil
}

// Would returns what would be sent now, if that differs from what was sent and is not what the ERP
// is shown to have.
func (f Field) Would(v view.Voice) string {
	if !f.Differs || f.Now == nil {
		return ""
	}
	text := v.Said(f.Name, *f.Now)
	if len(f.ERP) == 1 && f.Said(v, 0) == text {
		return ""
	}
	return text
}

// Labelled returns the label that the de-para has for an id of this field; "" if it has none.
func (f Field) Labelled(id *string) string {
	for _, c := range []trade.Reference{f.Code, f.NowCode} {
		if id != nil && c.Label != "" && c.ID == *id {
			return c.Label
		}
	}
	return ""
}

// Line returns the values of the columns joined with |, as in codes.
func (f Field) Line() string {
	var parts []string
	for _, value := range f.ERP {
		if value != nil {
			parts = append(parts, strings.TrimSpace(*value))
		}
	}
	return strings.Join(parts, "|")
}

package pages

import (
	"context"
	"io"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Sheets are files of rows in which people fill in what they decide.
type Sheets interface {
	// WriteRows writes rows, in the form csv or xlsx, after it was put into the audit with the
	// filter that selected them. each calls what it is given for each row.
	WriteRows(ctx context.Context, each func(func(trade.Entry) error) error, form, filter string, lang trade.Lang,
		w io.Writer, who acts.Person) error
	// PlanSheet says what a file orders, and changes nothing.
	PlanSheet(ctx context.Context, file io.Reader, lang trade.Lang) (SheetPlan, error)
	// DoSheet does what a plan with this mark showed, and nothing with another mark. Each decision
	// has its own reason.
	DoSheet(ctx context.Context, file io.Reader, mark string, lang trade.Lang, who acts.Person) (SheetPlan, error)
}

// SheetPlan is what a file orders, or what became of it.
type SheetPlan struct {
	Fault   string // why the file is none of ours; "" = it is one
	Groups  []SheetGroup
	Rows    int // that something would be done to
	Wrong   []reconcile.Fault
	Refused []SheetRefusal
	LeftOut int // rows to adopt that are too many for one file
	Mark    string

	Moved bool
	Done  int
	Asked int // groups that others have to agree to
}

// SheetGroup is what is ordered for rows of a job, for one reason.
type SheetGroup struct {
	Act    string // in words
	Job    string
	Reason string
	Steps  []acts.RowStep
}

// Shown are the first rows of the group.
func (g SheetGroup) Shown() []acts.RowStep { return g.Steps[:min(len(g.Steps), 5)] }

// More counts the others.
func (g SheetGroup) More() int { return len(g.Steps) - len(g.Shown()) }

// SheetRefusal is a decision that cannot be taken.
type SheetRefusal struct {
	Line     int
	Job, Key string
	Act      string // in words
	Why      string // code of the engine, or one_by_one
}

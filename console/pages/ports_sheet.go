package pages

import (
	"context"
	"io"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Sheets are files of rows in which people fill in their decisions.
type Sheets interface {
	// WriteRows writes rows, in the form csv or xlsx. The audit first records that, with the filter
	// that selected them. each calls its argument for each row.
	WriteRows(ctx context.Context, each func(func(trade.Entry) error) error, form, filter string, lang trade.Lang,
		w io.Writer, who acts.Person) error
	// PlanSheet returns what a file orders. It changes nothing.
	PlanSheet(ctx context.Context, file io.Reader, lang trade.Lang) (SheetPlan, error)
	// DoSheet does what a plan with this mark showed; with another mark it does nothing. Each
	// decision has a reason of its own.
	DoSheet(ctx context.Context, file io.Reader, mark string, lang trade.Lang, who acts.Person) (SheetPlan, error)
}

// SheetPlan is what a file orders, or the result.
type SheetPlan struct {
	Fault   string // why the file is not such a sheet; "" if it is
	Groups  []SheetGroup
	Rows    int // rows that would be changed
	Wrong   []reconcile.Fault
	Refused []SheetRefusal
	LeftOut int // rows to adopt beyond the limit of one file
	Mark    string

	Moved bool
	Done  int
	Asked int // groups to which others must agree
}

// SheetGroup is what is ordered for rows of a job with the same reason.
type SheetGroup struct {
	Act    string // as a word
	Job    string
	Reason string
	Steps  []acts.RowStep
}

// Shown returns the first rows of the group.
func (g SheetGroup) Shown() []acts.RowStep { return g.Steps[:min(len(g.Steps), 5)] }

// More returns the number of the others.
func (g SheetGroup) More() int { return len(g.Steps) - len(g.Shown()) }

// SheetRefusal is a decision that cannot be done.
type SheetRefusal struct {
	Line     int
	Job, Key string
	Act      string // as a word
	Why      string // code of the engine, or one_by_one
}

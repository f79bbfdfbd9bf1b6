package pages

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// Reports is the reconciliation of ERP and platform. Its numbers are those of the command line and
// the files, because the same code computes them.
type Reports interface {
	// Closings returns the months that were closed, newest first.
	Closings(ctx context.Context) ([]trade.Closing, error)
	// ReadReport returns a report. Of each section it contains the first most rows at most.
	ReadReport(ctx context.Context, q ReportQuery, lang trade.Lang, most int) (Report, error)
	// WriteReport writes a report as a file: csv, xlsx, html or json; zip is an archive with its
	// closings and the audit. The audit records it before a byte is written.
	WriteReport(ctx context.Context, q ReportQuery, lang trade.Lang, format string, w io.Writer,
		who acts.Person) error
	// MonthEnd parses a month and returns its last day; ok is false for any other text.
	MonthEnd(text string) (day trade.Date, ok bool)
	// PlanClosing returns what closing this month would store.
	PlanClosing(ctx context.Context, day trade.Date) (ClosingPlan, error)
	// CloseReport stores what a plan with this mark showed, and returns the closing's id. id is ""
	// if something has changed since, or the report does not add up. If asked is set, other people
	// must agree first.
	CloseReport(ctx context.Context, day trade.Date, mark string, who acts.Person) (id string,
		asked *trade.Approval, err error)
	// ReadClosing returns a closing. It returns trade.ErrNotFound if the id is unknown.
	ReadClosing(ctx context.Context, id string, lang trade.Lang, most int) (ClosedMonth, error)
	// ClosingStyle returns a style sheet that prints the identity of a closing on every page.
	ClosingStyle(ctx context.Context, id string, lang trade.Lang) (string, error)
}

// ReportQuery selects the content of a report.
type ReportQuery struct {
	AsOf    trade.Date // the state at the end of that day; zero: now
	Closing string     // instead: the closing with this id
	Single  bool       // include single contracts, deliveries and records of traceability
	reconcile.Filter
}

// Report is a report as a page shows it.
type Report struct {
	*paper.Report
	Figures []ProductFigures
}

// ProductFigures are the weights and the money of one product. Contracts, deliveries and fixations
// are the same grain: they are shown beside each other, and never added up.
type ProductFigures struct {
	Product                      string
	Contracted, Delivered, Fixed Compared
	Values                       []Compared // of fixed prices, one for each currency
}

// Compared is the ERP's value beside what the platform confirmed, in kilograms or money.
type Compared struct {
	Currency  string // "" = kilograms
	ERP, Sent trade.Decimal
	Parts     []DifferencePart // of the difference; their sum is the difference
}

// DifferencePart is why a part of what the ERP has is not what the platform confirmed.
type DifferencePart struct {
	What   string // masked
	Rows   int
	Amount trade.Decimal
	Path   string // address of the list of these rows
}

// Difference returns how much of the ERP's value the platform has not confirmed.
func (c Compared) Difference() trade.Decimal { return c.ERP.Sub(c.Sent) }

// ClosingPlan is what would be closed, or was closed.
type ClosingPlan struct {
	Day      trade.Date
	Rows     int
	Checks   []ClosingCheck
	Figures  []ProductFigures // what would be stored
	Mark     string
	At       time.Time
	TooEarly bool            // the first document is in a later month
	Before   []trade.Closing // earlier closings of the same month, newest first
}

// Blocked reports whether a failed check prevents the closing.
func (p ClosingPlan) Blocked() bool {
	return slices.ContainsFunc(p.Checks, func(c ClosingCheck) bool { return c.Blocks && !c.OK })
}

// Open returns the number of failed checks.
func (p ClosingPlan) Open() int {
	n := 0
	for _, c := range p.Checks {
		if !c.OK {
			n++
		}
	}
	return n
}

// ClosingCheck is one line of the checklist of a closing.
type ClosingCheck struct {
	Key    string // key of its text: sweep, even, doubt, held, refused, waiting, differences or keys
	OK     bool
	Blocks bool // nothing can be closed while it fails
	Items  []ClosingItem
}

// ClosingItem is one thing that a check found.
type ClosingItem struct {
	Job    string // "" = all jobs
	Kind   trade.Kind
	Fixing bool        // of contracts: their fixations, which are the same grain
	State  trade.State // the state of the rows; "" = not about a state
	Sums   trade.Sums
	At     time.Time // of a sweep
	N      int       // divergences, or the difference of a sum
	Why    trade.BesideKind
	Keys   []string
	Path   string // address of the list
}

// Money returns the value of the rows, by currency.
func (i ClosingItem) Money() []pending.Money {
	out := make([]pending.Money, 0, len(i.Sums.Values))
	for _, currency := range slices.Sorted(maps.Keys(i.Sums.Values)) {
		out = append(out, pending.Money{Currency: currency, Amount: i.Sums.Values[currency]})
	}
	return out
}

// ClosedMonth is a closing with its content.
type ClosedMonth struct {
	Closing trade.Closing
	Plan    ClosingPlan
	Report  Report
}

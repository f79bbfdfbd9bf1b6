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

// Reports is the reconciliation of ERP and platform, with the numbers that the command line and the
// files have: all are made by the same code.
type Reports interface {
	// Closings lists the months that were closed, the newest first.
	Closings(ctx context.Context) ([]trade.Closing, error)
	// ReadReport makes a report. Of a section that has more than most rows, the first ones are
	// given.
	ReadReport(ctx context.Context, q ReportQuery, lang trade.Lang, most int) (Report, error)
	// WriteReport writes a report as a file: csv, xlsx, html or json; zip is an archive of it, with
	// its closings and the audit. It stands in the audit before a byte is written.
	WriteReport(ctx context.Context, q ReportQuery, lang trade.Lang, format string, w io.Writer,
		who acts.Person) error
	// MonthEnd reads a month; ok is false for what is none.
	MonthEnd(text string) (day trade.Date, ok bool)
	// PlanClosing says what the report with this cut-off would keep for good.
	PlanClosing(ctx context.Context, day trade.Date) (ClosingPlan, error)
	// CloseReport keeps what a plan with this mark showed, and gives the closing's id; "" when
	// something has moved since, or it does not close to zero. asked: others have to agree first.
	CloseReport(ctx context.Context, day trade.Date, mark string, who acts.Person) (id string,
		asked *trade.Approval, err error)
	// ReadClosing returns a closing; one that is not known: trade.ErrNotFound.
	ReadClosing(ctx context.Context, id string, lang trade.Lang, most int) (ClosedMonth, error)
	// ClosingStyle is a style sheet that puts which closing it is on every printed page.
	ClosingStyle(ctx context.Context, id string, lang trade.Lang) (string, error)
}

// ReportQuery says what a report tells of.
type ReportQuery struct {
	AsOf    trade.Date // as things stood at the end of that day; zero: now
	Closing string     // instead: what was closed under this id
	Single  bool       // with the single contracts, deliveries and records of traceability, too
	reconcile.Filter
}

// Report is a report as people read it in a browser.
type Report struct {
	*paper.Report
	Figures []ProductFigures
}

// ProductFigures are the grain and the money of one product. Contracts, deliveries and fixations
// are of the same grain: they stand beside each other, and are never added.
type ProductFigures struct {
	Product                      string
	Contracted, Delivered, Fixed Compared
	Values                       []Compared // of what is fixed, one for each currency
}

// Compared is what the ERP has beside what the platform confirmed: kilograms, or money.
type Compared struct {
	Currency  string // "" = kilograms
	ERP, Sent trade.Decimal
}

// Difference is what the ERP has and the platform did not confirm.
func (c Compared) Difference() trade.Decimal { return c.ERP.Sub(c.Sent) }

// ClosingPlan is what would be closed, or was.
type ClosingPlan struct {
	Day      trade.Date
	Rows     int
	Checks   []ClosingCheck
	Figures  []ProductFigures // what would be kept
	Mark     string
	At       time.Time
	TooEarly bool            // the first document is of a later month
	Before   []trade.Closing // of the same month, the newest first
}

// Blocked reports whether a check stands in the way of every closing.
func (p ClosingPlan) Blocked() bool {
	return slices.ContainsFunc(p.Checks, func(c ClosingCheck) bool { return c.Blocks && !c.OK })
}

// Open counts the checks that are not well.
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
	Key    string // of its words: sweep, even, doubt, held, refused, waiting, differences or keys
	OK     bool
	Blocks bool // nothing is closed while it is not well
	Items  []ClosingItem
}

// ClosingItem is one thing that a check found.
type ClosingItem struct {
	Job    string // "" = of all
	Kind   trade.Kind
	Fixing bool        // of contracts: the fixations among them, whose grain is that of the others
	State  trade.State // in which the rows are; "" = it is not of a state
	Sums   trade.Sums
	At     time.Time // of a sweep
	N      int       // divergences, or what is missing in a sum
	Why    trade.BesideKind
	Keys   []string
	Path   string // of the list of them
}

// Money lists what the rows are worth, by currency.
func (i ClosingItem) Money() []pending.Money {
	out := make([]pending.Money, 0, len(i.Sums.Values))
	for _, currency := range slices.Sorted(maps.Keys(i.Sums.Values)) {
		out = append(out, pending.Money{Currency: currency, Amount: i.Sums.Values[currency]})
	}
	return out
}

// ClosedMonth is a closing with what it kept.
type ClosedMonth struct {
	Closing trade.Closing
	Plan    ClosingPlan
	Report  Report
}

package pages

import (
	"context"
	"io"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/pending"
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
	// WriteReport writes a report as a file: csv, xlsx, html or json. It stands in the audit before
	// a byte is written.
	WriteReport(ctx context.Context, q ReportQuery, lang trade.Lang, format string, w io.Writer,
		who engine.Person) error
	// MonthEnd reads a month; ok is false for what is none.
	MonthEnd(text string) (day trade.Date, ok bool)
	// PlanClosing says what the report with this cut-off would keep for good.
	PlanClosing(ctx context.Context, day trade.Date) (ClosingPlan, error)
	// CloseReport keeps what a plan with this mark showed; closed is false when something has moved
	// since, or it does not close to zero. asked: others have to agree first.
	CloseReport(ctx context.Context, day trade.Date, mark string, who engine.Person) (closed bool,
		asked *trade.Approval, err error)
}

// ReportQuery says what a report tells of.
type ReportQuery struct {
	AsOf      trade.Date // as things stood at the end of that day; zero: now
	From, To  trade.Date // of the documents
	Harvests  []string
	Products  []string
	Producers []string // the ERP's codes
	Places    []string
	Branches  []string
	Single    bool // with the single contracts, deliveries and records of traceability, too
}

// Report is a report as people read it in a browser.
type Report struct {
	Title    string
	Lines    []string // of when, from where, with what filter, who closed it
	Sections []ReportSection
}

// ReportSection is one table.
type ReportSection struct {
	ID      string
	Title   string
	Note    string
	Columns []ReportColumn
	Rows    [][]string
	Links   []string // where the second cell of each row leads; none: nowhere
	More    int      // rows that are only in the files
}

// ReportColumn is the head of a column.
type ReportColumn struct {
	Title string
	Class string // how it stands: number, day or code; "" = text
	Lead  bool   // stays in sight while the table is scrolled
}

// ClosingPlan is what would be closed.
type ClosingPlan struct {
	Day         trade.Date
	Rows        int
	Open        int      // rows that are neither sent nor dismissed
	Divergences int      // above the tolerance
	Uneven      []string // jobs whose sum does not close to zero: then nothing is closed
	Unswept     []string // jobs without a complete sweep, of which that cannot be said
	Mark        string
	At          time.Time
	TooEarly    bool            // the first document is of a later month
	States      []OpenState     // of Open
	Sums        []ClosingSum    // what would be kept, by product
	Before      []trade.Closing // of the same month, the newest first
}

// OpenState is how many rows are open in a state.
type OpenState struct {
	State trade.State
	Rows  int
}

// ClosingSum is the grain and the money of one product.
type ClosingSum struct {
	Product               string
	Contracted, Delivered trade.Decimal
	Values                []pending.Money
}

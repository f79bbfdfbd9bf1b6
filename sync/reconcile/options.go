// What of a snapshot a report tells: filters, tolerances, sections.

package reconcile

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Options say what of a snapshot a report tells, and how.
type Options struct {
	Filter    Filter
	Tolerance Tolerance
	Lang      trade.Lang
	Words     *trade.Catalogue // what is told of causes; nil: the program's own words
	Titles    trade.Titles     // of the jobs
	Show      bool             // rows have texts before their key
	Sections  []SectionID      // none: all
	By        []By             // of the totals; none: all
}

// leading returns the columns of rows.
func (o Options) leading(columns []column) []column {
	if o.Show {
		return slices.Concat(showColumn, columns)
	}
	return columns
}

// lead is the beginning of a row: what people are shown, then how it is found.
func (o Options) lead(r *Row) []any {
	out := []any{r.Show, o.job(r.Job), r.Branch, r.Key, r.RemoteID}
	if !o.Show {
		return out[1:]
	}
	return out
}

// job is the title of a job.
func (o Options) job(name string) Label { return Label{name, o.Titles.Of(name)} }

// Filter selects rows of the sections; an empty list or text selects everything. The summary is of
// all rows: it proves that none is missing. Its JSON form is kept in archives, with the days beside
// it.
type Filter struct {
	From      trade.Date    `json:"-"` // of the document; a row whose day cannot be read is always in
	To        trade.Date    `json:"-"`
	Jobs      []string      `json:"job,omitempty"`
	Harvests  []string      `json:"harvest,omitempty"`
	Products  []string      `json:"product,omitempty"`
	Branches  []string      `json:"branch,omitempty"`
	Producers []string      `json:"producer,omitempty"` // the ERP's codes
	Places    []string      `json:"place,omitempty"`
	Wallets   []string      `json:"wallet,omitempty"`
	States    []trade.State `json:"state,omitempty"`
}

// Empty reports whether everything is selected.
func (f Filter) Empty() bool {
	return f.From.IsZero() && f.To.IsZero() &&
		len(f.Jobs)+len(f.Harvests)+len(f.Products)+len(f.Branches)+len(f.Producers)+len(f.Places)+len(f.Wallets)+
			len(f.States) == 0
}

// Match reports whether a row is selected.
func (f Filter) Match(r *Row) bool {
	if r.Day != "" && (!f.From.IsZero() && r.Day < f.From.String() || !f.To.IsZero() && r.Day > f.To.String()) {
		return false
	}
	return among(f.Jobs, r.Job) && among(f.Harvests, r.Harvest) && among(f.Products, r.Product) &&
		among(f.Branches, r.Branch) && among(f.Producers, r.Producer) && among(f.Places, r.Place) &&
		among(f.Wallets, r.Wallet) && among(f.States, r.State)
}

func among[T comparable](list []T, one T) bool { return len(list) == 0 || slices.Contains(list, one) }

// matchAct reports whether a decision is of the time and the jobs that are selected.
func (f Filter) matchAct(a Act, zone *time.Location) bool {
	day := trade.DateOf(a.At.In(zone))
	if !f.From.IsZero() && day.Before(f.From) || !f.To.IsZero() && f.To.Before(day) {
		return false
	}
	job, _ := splitTarget(a.Target)
	return among(f.Jobs, job)
}

// Tolerance is what a difference may be without being told as one.
type Tolerance struct {
	Kilograms trade.Decimal // of one row
	Value     trade.Decimal // of one row, in its currency
	Contract  trade.Decimal // of what was delivered beyond a contract, in per cent of it
}

// DefaultTolerance is 1 kg, 0.01, and nothing beyond a contract.
func DefaultTolerance() Tolerance {
	return Tolerance{Kilograms: trade.NewDecimal(1, 0), Value: trade.NewDecimal(1, 2)}
}

// most is the most that a contract of so many kilograms may be delivered.
func (t Tolerance) most(contracted trade.Decimal) trade.Decimal {
	return contracted.Add(contracted.Mul(t.Contract).Mul(trade.NewDecimal(1, 2))).Add(t.Kilograms)
}

// SectionID names a section. The names are those of --section and of the JSON.
type SectionID string

// The sections in their order.
const (
	SummarySection      SectionID = "summary"
	BridgeSection       SectionID = "bridge"
	TotalsSection       SectionID = "totals"
	ContractsSection    SectionID = "contracts"
	DeliveriesSection   SectionID = "deliveries"
	TraceabilitySection SectionID = "traceability"
	DivergencesSection  SectionID = "divergences"
	ExceptionsSection   SectionID = "exceptions"
	MessagesSection     SectionID = "messages"
)

// AllSections lists the sections in their order.
var AllSections = []SectionID{
	SummarySection, BridgeSection, TotalsSection, ContractsSection, DeliveriesSection, TraceabilitySection,
	DivergencesSection, ExceptionsSection, MessagesSection,
}

func (o Options) has(s SectionID) bool { return len(o.Sections) == 0 || slices.Contains(o.Sections, s) }

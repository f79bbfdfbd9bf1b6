// What a report shows of a snapshot: filters, tolerances, sections.

package reconcile

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// Options are what a report shows of a snapshot, and how.
type Options struct {
	Filter    Filter
	Tolerance Tolerance
	Lang      trade.Lang
	Titles    trade.Titles // of the jobs
	Show      bool         // rows have display columns before their key
	Sections  []SectionID  // none: all
	Console   string       // public address of the console; "" = nothing leads there
	By        []By         // of the totals; none: all

	Cooperative string // with its CNPJ, above all; "" = it is not configured
}

// leading returns columns of rows, with the display column if there is one.
func (o Options) leading(columns []column) []column {
	if o.Show {
		return slices.Concat(showColumn, columns)
	}
	return columns
}

// lead returns the first cells of a row: the display columns, then what identifies it.
func (o Options) lead(r *Row) []any {
	out := []any{r.Show, o.job(r.Job), r.Branch, r.Key, r.RemoteID}
	if !o.Show {
		return out[1:]
	}
	return out
}

// job returns the title of a job.
func (o Options) job(name string) Label { return Label{name, o.Titles.Of(name)} }

// Filter selects rows of the sections; an empty list or zero day selects everything. It does not
// apply to the summary, which proves that no row is missing. Its JSON form is stored in the audit.
type Filter struct {
	From      trade.Date    `json:"from,omitzero"` // of the document; rows without a readable day always match
	To        trade.Date    `json:"to,omitzero"`
	Jobs      []string      `json:"job,omitempty"`
	Harvests  []string      `json:"harvest,omitempty"` // trade.NotKnown: those without
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
	return among(f.Jobs, r.Job) && among(f.Harvests, named(r.Harvest)) && among(f.Products, r.Product) &&
		among(f.Branches, r.Branch) && among(f.Producers, r.Producer) && among(f.Places, r.Place) &&
		among(f.Wallets, r.Wallet) && among(f.States, r.State)
}

func among[T comparable](list []T, one T) bool { return len(list) == 0 || slices.Contains(list, one) }

// Tolerance is how large a difference may be without being reported.
type Tolerance struct {
	Kilograms trade.Decimal // per row
	Value     trade.Decimal // per row, in its currency
	Contract  trade.Decimal // per cent that may be delivered beyond a contract
}

// DefaultTolerance returns 1 kg, 0.01 in any currency, and nothing beyond a contract.
func DefaultTolerance() Tolerance {
	return Tolerance{Kilograms: trade.NewDecimal(1, 0), Value: trade.NewDecimal(1, 2)}
}

// most returns how much may be delivered at most on a contract, in kilograms.
func (t Tolerance) most(contracted trade.Decimal) trade.Decimal {
	return contracted.Add(contracted.Mul(t.Contract).Mul(trade.NewDecimal(1, 2))).Add(t.Kilograms)
}

// SectionID is the name of a section, in --section and in the JSON.
type SectionID string

// The sections in their order.
const (
	SummarySection      SectionID = "summary"
	BridgeSection       SectionID = "bridge"
	DifferenceSection   SectionID = "difference"
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
	SummarySection, BridgeSection, DifferenceSection, TotalsSection, ContractsSection, DeliveriesSection,
	TraceabilitySection, DivergencesSection, ExceptionsSection, MessagesSection,
}

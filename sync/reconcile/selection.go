// Which rows a number of a report, or of the season, counts.

package reconcile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// What a [trade.Selection] names with Line, besides what becomes of rows after they were sent, and
// outsideLine with a reason.
const (
	InERP       = "erp"
	noCause     = "erp_no_cause"
	OnPlatform  = "sent"
	Difference  = "difference" // of the totals of both
	outsideLine = "outside:"
	documents   = "documents" // of the bridge of a job
	negative    = "negative"
	stillOpen   = "open" // of a closing
	openFixing  = "open_fixing"
)

// Selected are the rows that a number counts: their ids, and what each adds to it by job and key.
type Selected struct {
	IDs  []int64
	Each map[trade.ParentKey]trade.Sums
}

// Select returns the rows that a selection names; fixer is that of [Snapshot.Seasons].
func (s *Snapshot) Select(of trade.Selection, fixer func(trade.Entry) trade.Fixer) (Selected, error) {
	out := Selected{IDs: []int64{}, Each: map[trade.ParentKey]trade.Sums{}}
	list := func(text string) []string {
		if text == "" {
			return nil
		}
		return strings.Split(text, ",")
	}
	filter := Filter{
		Harvests: list(of.Harvest), Products: list(of.Products), Producers: list(of.Producer), Places: list(of.Place),
		Branches: list(of.Branches),
	}
	filter.From, _ = trade.ParseDate(of.From) // none, if it is no day
	filter.To, _ = trade.ParseDate(of.To)
	err := s.rows.each("", false, nil, func(r *Row) error {
		if !filter.Match(r) {
			return nil
		}
		one, ok := s.counted(of, r, fixer)
		if ok {
			one.Rows = 1
			out.IDs = append(out.IDs, r.Number)
			out.Each[trade.ParentKey{Job: r.Job, Key: r.Key}] = one
		}
		return nil
	})
	slices.Sort(out.IDs)
	return out, err
}

// selectionOf returns the selection of what a report's filter selects.
func selectionOf(f Filter) trade.Selection {
	return trade.Selection{
		Harvest: strings.Join(f.Harvests, ","), Products: strings.Join(f.Products, ","),
		Producer: strings.Join(f.Producers, ","), Place: strings.Join(f.Places, ","),
		Branches: strings.Join(f.Branches, ","), From: f.From.String(), To: f.To.String(),
	}
}

// counted returns what a row adds to the number that a selection names; ok is false if it is not in it.
func (s *Snapshot) counted(of trade.Selection, r *Row, fixer func(trade.Entry) trade.Fixer) (one trade.Sums, ok bool) {
	if of.Age != "" && (!r.counts() || !r.stuck() || string(fixer(r.Entry()).Department()) != of.Who ||
		strconv.Itoa(band(s.Head.At.Sub(r.Seen))) != of.Age) {
		return one, false
	}
	if of.Branch != "" && named(branchOf(r)) != of.Branch {
		return one, false
	}
	switch {
	case of.Line == documents, of.Line == negative:
		one.Add(r.ERP)
		return one, r.living() && r.ERP.Negative() == (of.Line == negative)
	case of.Line == stillOpen, of.Line == openFixing:
		one.Add(r.ERP)
		return one, r.open() && r.fixing() == (of.Line == openFixing)
	case of.Measure == "":
		one.Kilograms, _ = weight(r.ERP)
		if value, priced := r.ERP.Value(); priced {
			one.Join(trade.Sums{Values: map[string]trade.Decimal{r.ERP.Currency: value}})
		}
		return one, true
	}
	for _, p := range r.parts() {
		if string(p.Measure) != of.Measure || p.Currency != of.Currency || of.Product != "" &&
			named(p.Product) != of.Product {
			continue
		}
		amount := p.amount
		switch {
		case of.Line == InERP && p.inERP(), of.Line == noCause && p.inERP() && p.Cause == "",
			of.Line == p.After && p.After != "" && !p.bare, of.Line == outsideLine+string(p.Outside) && p.Outside != "":
		case of.Line == OnPlatform && p.sent.Sign() != 0:
			amount = p.sent
		case of.Line == Difference && p.inERP() && p.State != trade.Accepted:
		case of.Line == Difference && p.After != "" && !p.bare:
			amount = amount.Neg()
		default:
			continue
		}
		ok = true
		if p.Measure == Worth {
			one.Kilograms, _ = r.ERP.Kilograms()
			one.Join(trade.Sums{Values: map[string]trade.Decimal{p.Currency: amount}})
			continue
		}
		one.Kilograms = one.Kilograms.Add(amount)
		if value, priced := r.ERP.Value(); priced && value.Sign() > 0 && p.inERP() {
			one.Join(trade.Sums{Values: map[string]trade.Decimal{r.ERP.Currency: value}})
		}
	}
	return one, ok
}

// inERP reports whether a part is in the total of the ERP.
func (p part) inERP() bool { return p.Outside == "" && p.After == "" && !p.bare }

func named(text string) string { return cmp.Or(text, trade.NotKnown) }

// stuck reports whether a row waits for a department: neither for another row, nor for a decision about it.
func (r *Row) stuck() bool {
	return slices.Contains(trade.Stuck, r.State) && !slices.Contains(trade.Undecided, r.State) &&
		r.Cause != trade.CauseParent
}

// Figure returns a line of the account of a report with this filter as a number with its rows. ok is false
// if the ledger does not have these rows: the ERP has them beside its documents.
func (a Account) Figure(f Filter, l AccountLine) (out trade.Figure, ok bool) {
	of := selectionOf(f)
	of.Measure, of.Currency, of.Product = string(a.Measure), a.Currency, named(a.Product)
	out = trade.Figure{Sums: trade.Sums{Rows: l.Rows}}
	if a.Measure == Worth {
		out.Values = map[string]trade.Decimal{a.Currency: l.Amount}
	} else {
		out.Kilograms = l.Amount
	}
	switch {
	case slices.Contains(trade.BesideKinds, trade.BesideKind(l.Outside)):
		return out, false
	case l.Outside != "":
		of.Line = outsideLine + string(l.Outside)
	case l.After != "":
		of.Line = l.After
	case l.Cause == "":
		of.Line, out.Of.States = noCause, []trade.State{l.State}
	default:
		of.Line, out.Of.States, out.Of.Causes = InERP, []trade.State{l.State}, []string{l.Cause}
	}
	out.Of.Of = of
	return out, true
}

// Total returns the total of the ERP, that of the platform, or what the platform does not have of the
// first, as a number with its rows; how many they are is not counted.
func (a Account) Total(f Filter, line string) trade.Figure {
	amount := map[string]trade.Decimal{InERP: a.ERP(), OnPlatform: a.Sent, Difference: a.ERP().Sub(a.Sent)}[line]
	out, _ := a.Figure(f, AccountLine{Amount: amount})
	out.Of.States, out.Of.Of.Line = nil, line
	return out
}

// Figure returns the open rows of a part with documents up to a day as a number.
func (p Part) Figure(job string, day trade.Date) trade.Figure {
	out := trade.Figure{Sums: p.Sums, Of: trade.RowQuery{Jobs: []string{job}, States: []trade.State{p.State}}}
	out.Of.Of = trade.Selection{Line: stillOpen, To: day.String()}
	if p.Fixing {
		out.Of.Of.Line = openFixing
	}
	return out
}

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

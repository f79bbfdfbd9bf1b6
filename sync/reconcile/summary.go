// The equation of a job: what the ERP has is the sum of what has become of it (I9).

package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Summary is the equation of one job: what the ERP has in scope is the sum of what has become of
// it.
type Summary struct {
	Job   string
	Sends trade.Kind
	Rows  int // entries of the ledger
	// rows that the ERP has now, by the last complete sweep and later discoveries; nil: no sweep
	InScope    *int
	Unreadable int // rows of the ERP without a usable key, in no other figure

	// The summands: each row of the ERP is in exactly one of them.
	States map[trade.State]int
	Moved  int // their record was moved to the row under its new key
	After  int // documents with a day after the cut-off

	// The bridge: the query's rows are the living documents and other rows (Beside).
	Read      int // rows at the last complete sweep; 0: unknown
	Documents trade.Sums
	Negative  trade.Sums // documents whose amount or price is below zero, not in Documents
	Beside    []trade.Beside

	// Sub-counts of the above, not summands.
	Flags map[trade.Flag]int
	Open  []Part // rows that are neither sent, nor dismissed, nor withdrawn

	SweptAt *time.Time `json:",omitempty"` // of the last complete sweep

	// Rows that have left the ERP; in none of the above.
	Gone       int
	GoneStates map[trade.State]int
	GoneMoved  int
}

// Part is the rows of a job in a state, with their grain and money. Fixations are separate from
// contracts, because they are the same grain.
type Part struct {
	State  trade.State
	Fixing bool
	Sums   trade.Sums
}

// Sum returns the sum of the summands.
func (s Summary) Sum() int {
	n := s.Moved + s.After
	for _, count := range s.States {
		n += count
	}
	return n
}

// Bridge returns what the ERP has in rows, grain and money: the sum of all parts.
func (s Summary) Bridge() trade.Sums {
	var all trade.Sums
	all.Join(s.Documents)
	all.Join(s.Negative)
	for _, b := range s.Beside {
		all.Join(b.Sums)
	}
	return all
}

// Difference returns what the ERP has in scope minus the sum; nil if no sweep has shown what the
// ERP has. Anything but zero is an error of the program.
func (s Summary) Difference() *int {
	if s.InScope == nil {
		return nil
	}
	d := *s.InScope - s.Sum()
	return &d
}

// add adds a row of the job.
func (s *Summary) add(r *Row) {
	s.Rows++
	switch {
	case !r.living(): // a cancelled row was counted in Beside by the sweep
	case r.ERP.Negative():
		s.Negative.Add(r.ERP)
	default:
		s.Documents.Add(r.ERP)
	}
	switch {
	case r.Gone && r.Moved:
		s.Gone++
		s.GoneMoved++
		return
	case r.Gone:
		s.Gone++
		s.GoneStates[r.State]++
		return
	case r.Moved:
		s.Moved++
		return
	case r.After:
		s.After++
		return
	}
	s.States[r.State]++
	if r.open() {
		part := Part{State: r.State, Fixing: r.fixing()}
		i := slices.IndexFunc(s.Open, func(p Part) bool { return p.State == part.State && p.Fixing == part.Fixing })
		if i < 0 {
			i = len(s.Open)
			s.Open = append(s.Open, part)
		}
		s.Open[i].Sums.Add(r.ERP)
	}
	for _, f := range r.Flags {
		s.Flags[f]++
	}
}

// bridge writes, for each job, the rows of its query as the sum of their parts, in rows, grain and
// money.
func (p *printer) bridge() {
	for _, s := range p.sum.Summaries {
		if s.Read == 0 {
			continue
		}
		write := func(id string, sums trade.Sums, role string, keys []string) {
			currencies := slices.Sorted(maps.Keys(sums.Values))
			if len(currencies) == 0 {
				currencies = []string{""}
			}
			for i, currency := range currencies {
				row := []any{
					p.job(s.Job), p.label("bridge.", id), nil, nil, currency, nil, nil, p.label("bridge.", role), "",
				}
				if i == 0 {
					row[2], row[3], row[6], row[8] = sums.Rows, sums.Kilograms, sums.Unweighed, strings.Join(keys, ", ")
				}
				if currency != "" {
					row[5] = sums.Values[currency]
				}
				p.row(row...)
			}
		}
		write("read", s.Bridge(), "total", nil)
		write("documents", s.Documents, "part", nil)
		if s.Negative.Rows > 0 {
			write("negative", s.Negative, "part", nil)
		}
		for _, b := range s.Beside {
			write(string(b.Why), b.Sums, "part", b.Keys)
		}
	}
}

// By is a dimension of the totals.
type By string

// The dimensions.
const (
	ByAll      By = "all"
	BySeason   By = "season"
	ByProducer By = "producer"
	ByPlace    By = "place"
)

// Dimensions lists the dimensions in the order in which they are shown.
var Dimensions = []By{ByAll, BySeason, ByProducer, ByPlace}

// Total is the sum of one product for one season, producer or place, or for everything. Weights are
// exact, in kilograms. Figures of the ERP are of rows that exist and are not cancelled; sent ones
// are of records that the platform confirmed.
type Total struct {
	TotalKey
	Amounts // of the ERP
	Sent    Amounts
	Deposit trade.Decimal // FIXACAO_DEPOSITO, included in Fixed
	ToFix   trade.Decimal // A_FIXAR − FIXACAO_COMPRA

	// of Contracted, Delivered and fixations from deposit: what people dismissed
	Dismissed trade.Decimal
	Rows      int
	Unweighed int // rows without a unit or a positive amount, or with a negative price: in no weight
	Unpriced  int // fixed rows without a price or currency: in no value
}

// Amounts are what the accounts of a total's rows add up to.
type Amounts struct {
	Contracted trade.Decimal
	Delivered  trade.Decimal
	Fixed      trade.Decimal
	Values     map[string]trade.Decimal // by currency
}

func (a *Amounts) add(one amount) {
	switch one.Measure {
	case Contracted:
		a.Contracted = a.Contracted.Add(one.is)
	case Delivered:
		a.Delivered = a.Delivered.Add(one.is)
	case Fixed:
		a.Fixed = a.Fixed.Add(one.is)
	case Worth:
		a.Values[one.Currency] = a.Values[one.Currency].Add(one.is)
	}
}

// ToDeliver returns what is contracted and not delivered.
func (t Total) ToDeliver() trade.Decimal { return t.Contracted.Sub(t.Delivered) }

// Currencies returns the currencies of the values, sorted.
func (t Total) Currencies() []string {
	all := map[string]trade.Decimal{}
	maps.Copy(all, t.Values)
	maps.Copy(all, t.Sent.Values)
	return slices.Sorted(maps.Keys(all))
}

// TotalKey identifies a total.
type TotalKey struct {
	By      By
	Name    string // the season, producer or place; "" = unknown, or everything
	Product string // "" = unknown
}

type totals map[TotalKey]*Total

// add adds a row of a contract or delivery: as the ERP has it, and as it was sent.
func (t totals) add(r *Row) {
	if r.Sends == trade.Traceability {
		return
	}
	for _, by := range Dimensions {
		if r.counts() {
			of := t.of(by, r.Document)
			of.Rows++
			of.erp(r)
		}
		if !r.onPlatform() || r.Sent == nil {
			continue
		}
		of := t.of(by, r.sentAs())
		for _, one := range amountsOf(r.Sends, r.sentAs(), *r.Sent) {
			if one.ok {
				of.Sent.add(one)
			}
		}
		if !r.counts() {
			of.Rows++
		}
	}
}

// of returns the total to which a document belongs.
func (t totals) of(by By, d Document) *Total {
	key := TotalKey{by, map[By]string{BySeason: d.Harvest, ByProducer: d.Producer, ByPlace: d.Place}[by], d.Product}
	if t[key] == nil {
		t[key] = &Total{TotalKey: key}
		t[key].Values, t[key].Sent.Values = map[string]trade.Decimal{}, map[string]trade.Decimal{}
	}
	return t[key]
}

// erp adds what the ERP has.
func (t *Total) erp(r *Row) {
	kg, ok := weight(r.ERP)
	if !ok {
		t.Unweighed++
	}
	for _, one := range amountsOf(r.Sends, r.Document, r.ERP) {
		switch {
		case r.outside(one) == "":
			t.add(one)
		case one.Measure == Worth:
			t.Unpriced++
		}
	}
	kind := trade.OrderType(r.OrderType)
	switch {
	case r.Sends == trade.Deliveries:
	case kind == trade.AFixar:
		t.ToFix = t.ToFix.Add(kg)
	case kind == trade.FixacaoCompra:
		t.ToFix = t.ToFix.Sub(kg)
	case kind == trade.FixacaoDeposito:
		t.Deposit = t.Deposit.Add(kg)
	}
	if r.State == trade.Dismissed &&
		(r.Sends == trade.Deliveries || contracted(r.OrderType) || kind == trade.FixacaoDeposito) {
		t.Dismissed = t.Dismissed.Add(kg)
	}
}

// contracted reports whether an order type contracts new grain: a fixation is for grain of its
// contract, or of a deposit.
func contracted(orderType string) bool {
	return orderType == string(trade.Compra) || orderType == string(trade.AFixar)
}

// fixed reports whether an order type has a final price.
func fixed(orderType string) bool {
	switch trade.OrderType(orderType) {
	case trade.Compra, trade.FixacaoCompra, trade.FixacaoDeposito:
		return true
	}
	return false
}

// sorted returns the totals by dimension, then by name in the order of codes, then by product;
// unknown names come last.
func (t totals) sorted() []Total {
	out := trade.ValuesOf(t)
	slices.SortFunc(out, func(a, b Total) int {
		return cmp.Or(cmp.Compare(slices.Index(Dimensions, a.By), slices.Index(Dimensions, b.By)),
			trade.CompareBool(a.Name == "", b.Name == ""), trade.CompareCodes(a.Name, b.Name),
			trade.CompareBool(a.Product == "", b.Product == ""), cmp.Compare(a.Product, b.Product))
	})
	return out
}

// The account of each product and measure: from a SUM over the ERP to what the platform confirmed.

package reconcile

import (
	"cmp"
	"slices"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Measure is what an account sums up. Measures are the same grain, seen differently: they are never
// added up.
type Measure string

// The measures, in the order in which they are shown.
const (
	Contracted Measure = "contracted" // COMPRA and A_FIXAR, in kilograms
	Delivered  Measure = "delivered"
	Fixed      Measure = "fixed"   // COMPRA and fixations, in kilograms
	Worth      Measure = "value"   // amount times price of what is fixed, in its currency
	Untyped    Measure = "untyped" // contracts without a readable type, in kilograms
)

// Measures lists the measures.
var Measures = []Measure{Contracted, Delivered, Fixed, Worth, Untyped}

// Outside is why what the ERP has is in no total.
type Outside string

// The reasons.
const (
	OutsideCancelled = Outside(trade.BesideCancelled)
	OutsideNoKey     = Outside(trade.BesideNoKey)
	OutsideDouble    = Outside(trade.BesideDouble)
	OutsideWithdrawn = Outside(trade.Withdrawn) // left the ERP before it was sent

	OutsideNegative  Outside = "negative"       // an amount or a price below zero
	OutsideUnweighed Outside = "without_weight" // no unit, or no amount above zero
	OutsideUnpriced  Outside = "without_price"
	OutsideMoved     Outside = "moved" // its record was moved to the row under its new key
	OutsideAfter     Outside = "after" // a document dated after the cut-off
)

// outsides lists the reasons in the order in which they are shown.
var outsides = []Outside{
	OutsideCancelled, OutsideNoKey, OutsideDouble, OutsideNegative, OutsideUnweighed, OutsideUnpriced, OutsideMoved,
	OutsideAfter, OutsideWithdrawn,
}

// AccountLine is a part of an account: its rows, and their weight or value.
type AccountLine struct {
	Outside Outside     // "" = of a state
	State   trade.State // "" with Outside "" = not on the platform then, for an unknown reason
	Cause   string      // of the state; "" = none
	After   string      // what became of a row after it was sent; else ""
	Rows    int
	Amount  trade.Decimal
}

// Account is the way of one product's measure from the ERP to the platform, exactly:
//
//	Read − outside = by state; by state of accepted rows + Changed + Left + Renumbered = Sent
type Account struct {
	Product  string // "" = unknown
	Measure  Measure
	Currency string // of Worth

	Read    trade.Decimal // everything that the query returns, as a SUM over the ERP has it
	Whole   bool          // Read has the rows that are no living documents, by the last complete sweep
	Outside []AccountLine // in Read, and in no total
	States  []AccountLine // in Read and in the total of the ERP
	Changed AccountLine   // of rows on the platform: what was sent minus what the ERP has
	Left    AccountLine   // on the platform, and in no total of the ERP
	// on the platform under a key that the ERP is known to have no more, while the row under its new key
	// waits for a decision
	Renumbered AccountLine
	Sent       trade.Decimal // in the total of the platform
}

// ERP returns the total of the ERP.
func (a Account) ERP() trade.Decimal { return sumOf(a.States) }

// Proof returns Read minus all that it is made of. Anything but zero is an error of the program.
func (a Account) Proof() trade.Decimal { return a.Read.Sub(sumOf(a.Outside)).Sub(sumOf(a.States)) }

// SentProof returns Sent minus all that it is made of. Anything but zero is an error of the program.
func (a Account) SentProof() trade.Decimal {
	there := a.Changed.Amount.Add(a.Left.Amount).Add(a.Renumbered.Amount)
	for _, l := range a.States {
		if l.State == trade.Accepted {
			there = there.Add(l.Amount)
		}
	}
	return a.Sent.Sub(there)
}

func sumOf(lines []AccountLine) (sum trade.Decimal) {
	for _, l := range lines {
		sum = sum.Add(l.Amount)
	}
	return sum
}

type accountKey struct {
	product  string
	measure  Measure
	currency string
}

// lineKey identifies a line within an account.
type lineKey struct {
	outside Outside
	state   trade.State
	cause   string
	after   string // what became of a row after it was sent; else ""
}

// What becomes of rows after they were sent.
const (
	changedAfter    = "changed"
	leftAfter       = "left"
	renumberedAfter = "renumbered"
)

// Afters lists what becomes of rows after they were sent, as [AccountWord] says it.
var Afters = []string{changedAfter, leftAfter, renumberedAfter}

type building struct {
	Account
	lines map[lineKey]*AccountLine
}

// accounts sums up rows.
type accounts map[accountKey]*building

func (a accounts) of(k accountKey) *building {
	if a[k] == nil {
		a[k] = &building{
			Account: Account{Product: k.product, Measure: k.measure, Currency: k.currency},
			lines:   map[lineKey]*AccountLine{},
		}
	}
	return a[k]
}

func (b *building) add(k lineKey, rows int, amount trade.Decimal) {
	if b.lines[k] == nil {
		b.lines[k] = &AccountLine{Outside: k.outside, State: k.state, Cause: k.cause, After: k.after}
	}
	b.lines[k].Rows += rows
	b.lines[k].Amount = b.lines[k].Amount.Add(amount)
}

// amount is what a row is in an account.
type amount struct {
	key accountKey
	// the weight or value as it is, which may be zero or less
	is trade.Decimal
	ok bool // it can be read
}

// amountsOf returns the accounts of a document, with what figures are in them.
func amountsOf(sends trade.Kind, d Document, f Figures) []amount {
	kg, weighed := f.Kilograms()
	grain := func(m Measure) amount { return amount{accountKey{d.Product, m, ""}, kg, weighed} }
	switch {
	case sends == trade.Deliveries:
		return []amount{grain(Delivered)}
	case sends != trade.OrderCommitments:
		return nil
	}
	var out []amount
	if contracted(d.OrderType) {
		out = append(out, grain(Contracted))
	}
	if fixed(d.OrderType) {
		value, priced := f.Value()
		out = append(out, grain(Fixed), amount{accountKey{d.Product, Worth, f.Currency}, value, priced})
	}
	if len(out) == 0 {
		out = append(out, grain(Untyped))
	}
	return out
}

// beside adds the rows of a job that are no living documents.
func (a accounts) beside(job JobHead, f Filter) {
	for _, b := range job.Beside {
		for _, p := range b.Products {
			if !among(f.Products, p.Product) {
				continue
			}
			d := Document{Product: p.Product, OrderType: p.OrderType}
			k := lineKey{outside: Outside(b.Why)}
			for _, one := range amountsOf(job.Sends, d, Figures{}) {
				if one.key.measure != Worth {
					of := a.of(one.key)
					of.Read = of.Read.Add(p.Kilograms)
					of.add(k, p.Rows, p.Kilograms)
					continue
				}
				for currency, value := range p.Values {
					of := a.of(accountKey{p.Product, Worth, currency})
					of.Read = of.Read.Add(value)
					of.add(k, p.Rows, value)
				}
			}
		}
	}
}

// part is what a row is in a line of an account. Read and sent are what it adds to the sum of the ERP and
// to that of the platform, whatever its line is.
type part struct {
	accountKey
	lineKey
	amount     trade.Decimal
	read, sent trade.Decimal
	bare       bool // it is in no line: what was sent is what the ERP has
}

// parts returns what a row is in the accounts.
func (r *Row) parts() (out []part) {
	var here []amount
	living := !r.Gone && !r.Cancelled && !r.Renumbered
	if living {
		here = amountsOf(r.Sends, r.Document, r.ERP)
	}
	counted := map[accountKey]trade.Decimal{} // the parts of the totals
	for _, one := range here {
		k := lineKey{outside: r.outside(one)}
		if k.outside == "" {
			k.state, k.cause = r.State, r.Cause
			if r.State == trade.Accepted {
				k.cause = ""
			}
			counted[one.key] = one.is
		}
		out = append(out, part{accountKey: one.key, lineKey: k, amount: one.is, read: one.is})
	}
	if !r.onPlatform() || r.Sent == nil {
		return out
	}
	for _, one := range amountsOf(r.Sends, r.sentAs(), *r.Sent) {
		if one.key.measure == Untyped || !one.ok {
			continue
		}
		erp, in := counted[one.key]
		delete(counted, one.key)
		p := part{accountKey: one.key, lineKey: lineKey{after: changedAfter}, sent: one.is, amount: one.is.Sub(erp)}
		switch {
		case r.Renumbered:
			p.after = renumberedAfter
		case !living:
			p.after = leftAfter
		case in && p.amount.Sign() == 0:
			p.bare = true
		}
		out = append(out, p)
	}
	for key, erp := range counted { // it was sent as something else, or without this
		out = append(out, part{accountKey: key, lineKey: lineKey{after: changedAfter}, amount: erp.Neg()})
	}
	return out
}

// outside returns why a living row's amount is in no total of the ERP; "" = it is.
func (r *Row) outside(one amount) Outside {
	_, weighed := weight(r.ERP)
	switch {
	case r.Moved:
		return OutsideMoved
	case r.After:
		return OutsideAfter
	case r.Flags.Has(trade.Cancelled):
		return OutsideCancelled
	case r.State == trade.Withdrawn:
		return OutsideWithdrawn
	case r.ERP.Negative():
		return OutsideNegative
	case !weighed:
		return OutsideUnweighed
	case !one.ok || one.is.Sign() <= 0:
		return OutsideUnpriced
	}
	return ""
}

// done returns the accounts by product and measure. whole is that of the report; placed reports
// whether each delivery is in the account of its product.
func (a accounts) done(whole, placed bool) []Account {
	out := make([]Account, 0, len(a))
	for _, b := range a {
		b.Whole = whole && (placed || b.Measure != Delivered || b.Product == "")
		for _, l := range b.lines {
			switch {
			case l.Outside != "":
				b.Outside = append(b.Outside, *l)
			case l.After == changedAfter:
				b.Changed = *l
			case l.After == leftAfter:
				b.Left = *l
			case l.After == renumberedAfter:
				b.Renumbered = *l
			default:
				b.States = append(b.States, *l)
			}
		}
		slices.SortFunc(b.Outside, func(x, y AccountLine) int {
			return cmp.Compare(slices.Index(outsides, x.Outside), slices.Index(outsides, y.Outside))
		})
		slices.SortFunc(b.States, func(x, y AccountLine) int {
			return cmp.Or(cmp.Compare(slices.Index(summaryOrder, x.State), slices.Index(summaryOrder, y.State)),
				y.Amount.Cmp(x.Amount), cmp.Compare(x.Cause, y.Cause))
		})
		out = append(out, b.Account)
	}
	slices.SortFunc(out, func(x, y Account) int {
		return cmp.Or(unknownLast(x.Product, y.Product), cmp.Compare(x.Product, y.Product),
			cmp.Compare(slices.Index(Measures, x.Measure), slices.Index(Measures, y.Measure)),
			cmp.Compare(x.Currency, y.Currency))
	})
	return out
}

// Why returns what a line is, in words: why it is outside, or its state with its cause.
func (l AccountLine) Why(o Options) string {
	if l.Outside != "" {
		return sentence(i18n.Key("account."+string(l.Outside)), o.Lang)
	}
	text := l.State.Label(o.Lang)
	if cause := l.cause(o); cause != "" {
		text += ": " + cause
	}
	return text
}

// cause returns the cause of a line in words; "" = it has none.
func (l AccountLine) cause(o Options) string {
	if l.Cause == "" {
		return ""
	}
	return trade.ExplainEntry(trade.Entry{State: l.State, Cause: l.Cause}, o.Lang).What
}

// AccountWord returns what a line of an account is that is not of a state.
func AccountWord(id string, lang trade.Lang) string { return sentence(i18n.Key("account."+id), lang) }

// accounts writes each account from the ERP to the platform, line by line.
func (p *printer) accounts(list []Account) error {
	for _, a := range list {
		var err error
		add := func(id, text string, l AccountLine, rows any, role string) {
			state := Label{string(l.State), ""}
			if l.State != "" {
				state.Text = l.State.Label(p.Lang)
			}
			row := []any{
				a.Product,
				Label{string(a.Measure), sentence(i18n.Key("account.measure."+string(a.Measure)), p.Lang)},
				Label{id, text},
				state,
				Label{l.Cause, l.cause(p.Options)},
				rows, nil, a.Currency, nil,
				Label{role, sentence(i18n.Key("account.role."+role), p.Lang)},
			}
			row[6] = l.Amount
			if a.Measure == Worth {
				row[6], row[8] = nil, l.Amount
			}
			if err == nil {
				err = p.w.Row(row)
			}
		}
		total := func(id string, amount trade.Decimal, role string) {
			add(id, AccountWord(id, p.Lang), AccountLine{Amount: amount}, nil, role)
		}
		part := func(id string, l AccountLine) {
			if l.Rows > 0 {
				add(id, AccountWord(id, p.Lang), l, l.Rows, "part")
			}
		}
		if a.Whole {
			total("read", a.Read, "total")
		}
		for _, l := range a.Outside {
			add("outside:"+string(l.Outside), l.Why(p.Options), l, l.Rows, "outside")
		}
		total("erp", a.ERP(), "total")
		for _, l := range a.States {
			add("state", l.Why(p.Options), l, l.Rows, "part")
		}
		part(changedAfter, a.Changed)
		part(leftAfter, a.Left)
		part(renumberedAfter, a.Renumbered)
		total("sent", a.Sent, "total")
		total("proof", a.Proof().Add(a.SentProof()), "proof")
		if err != nil {
			return err
		}
	}
	return nil
}

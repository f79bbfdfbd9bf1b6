// The account of each product and measure: from a SUM over the ERP to what the platform confirmed.

package reconcile

import (
	"cmp"
	"slices"

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

// LineKey identifies a line within an account.
type LineKey struct {
	Outside Outside     // "" = of a state
	State   trade.State // "" = of no state
	Cause   string      // of the state; "" = none
	After   string      // what became of a row after it was sent; else ""
}

// AccountLine is a part of an account: its rows, and their weight or value.
type AccountLine struct {
	LineKey
	Rows   int
	Amount trade.Decimal
}

// AccountKey identifies an account.
type AccountKey struct {
	Product  string // "" = unknown
	Measure  Measure
	Currency string // of Worth
}

// Account is the way of one product's measure from the ERP to the platform, exactly:
//
//	Read − outside = by state; by state of accepted rows + Changed + Left + Renumbered = Sent
type Account struct {
	AccountKey
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

// Of returns what the ERP has in a state.
func (a Account) Of(state trade.State) (sum trade.Decimal) {
	for _, l := range a.States {
		if l.State == state {
			sum = sum.Add(l.Amount)
		}
	}
	return sum
}

// Empty reports whether an account has nothing: neither an amount nor rows that are in no total. What has no
// currency has no worth.
func (a Account) Empty() bool {
	return a.Measure == Worth && a.Currency == "" ||
		a.Read.Sign() == 0 && a.ERP().Sign() == 0 && a.Sent.Sign() == 0 && len(a.Outside) == 0
}

// Proof returns Read minus all that it is made of. Anything but zero is an error of the program.
func (a Account) Proof() trade.Decimal { return a.Read.Sub(sumOf(a.Outside)).Sub(sumOf(a.States)) }

// SentProof returns Sent minus all that it is made of. Anything but zero is an error of the program.
func (a Account) SentProof() trade.Decimal {
	return a.Sent.Sub(a.Of(trade.Accepted)).Sub(a.Changed.Amount).Sub(a.Left.Amount).Sub(a.Renumbered.Amount)
}

// Rounded returns the account in whole kilograms or cents, as people read it: so rounded that it still adds up.
func (a Account) Rounded() Account {
	scale := int32(0)
	if a.Measure == Worth {
		scale = 2
	}
	var exact, shown trade.Decimal // the amounts so far
	next := func(l AccountLine) AccountLine {
		exact = exact.Add(l.Amount)
		l.Amount = exact.Round(scale).Sub(shown)
		shown = shown.Add(l.Amount)
		return l
	}
	accepted := a.Of(trade.Accepted)
	a.States, a.Outside = trade.Map(a.States, next), trade.Map(a.Outside, next)
	exact, shown = accepted, a.Of(trade.Accepted)
	a.Changed, a.Left, a.Renumbered = next(a.Changed), next(a.Left), next(a.Renumbered)
	a.Read, a.Sent = a.Read.Round(scale), a.Sent.Round(scale)
	return a
}

func sumOf(lines []AccountLine) (sum trade.Decimal) {
	for _, l := range lines {
		sum = sum.Add(l.Amount)
	}
	return sum
}

// What becomes of rows after they were sent.
const (
	changedAfter    = "changed"
	leftAfter       = "left"
	renumberedAfter = "renumbered"
)

// Afters lists what becomes of rows after they were sent, as [AccountWord] says it.
var Afters = []string{changedAfter, leftAfter, renumberedAfter}

// accounts sums up rows.
type accounts map[AccountKey]*Account

func (a accounts) of(k AccountKey) *Account {
	if a[k] == nil {
		a[k] = &Account{AccountKey: k}
	}
	return a[k]
}

// add adds to a line of the account.
func (a *Account) add(k LineKey, rows int, amount trade.Decimal) {
	var line *AccountLine
	list := &a.States
	switch {
	case k.Outside != "":
		list = &a.Outside
	case k.After == changedAfter:
		line = &a.Changed
	case k.After == leftAfter:
		line = &a.Left
	case k.After == renumberedAfter:
		line = &a.Renumbered
	}
	if line == nil {
		i := slices.IndexFunc(*list, func(l AccountLine) bool { return l.LineKey == k })
		if i < 0 {
			i, *list = len(*list), append(*list, AccountLine{})
		}
		line = &(*list)[i]
	}
	line.LineKey, line.Rows, line.Amount = k, line.Rows+rows, line.Amount.Add(amount)
}

// amount is what a row is in an account.
type amount struct {
	AccountKey
	// the weight or value as it is, which may be zero or less
	is trade.Decimal
	ok bool // it can be read
}

// amountsOf returns the accounts of a document, with what figures are in them.
func amountsOf(sends trade.Kind, d Document, f Figures) []amount {
	kg, weighed := f.Kilograms()
	grain := func(m Measure) amount { return amount{AccountKey{d.Product, m, ""}, kg, weighed} }
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
		out = append(out, grain(Fixed), amount{AccountKey{d.Product, Worth, f.Currency}, value, priced})
	}
	if len(out) == 0 {
		out = append(out, grain(Untyped))
	}
	return out
}

// addOther adds the rows of a job that are no living documents. placed is false if the filter leaves out
// deliveries whose contract the ledger does not have, which may be of its products.
func (a accounts) addOther(job JobHead, f Filter) (placed bool) {
	placed = true
	for _, b := range job.Beside {
		for _, p := range b.Products {
			if !among(f.Products, p.Product) {
				placed = placed && (job.Sends != trade.Deliveries || p.Product != "" || p.Rows == 0)
				continue
			}
			d := Document{Product: p.Product, OrderType: p.OrderType}
			k := LineKey{Outside: Outside(b.Why)}
			for _, one := range amountsOf(job.Sends, d, Figures{}) {
				if one.Measure != Worth {
					of := a.of(one.AccountKey)
					of.Read = of.Read.Add(p.Kilograms)
					of.add(k, p.Rows, p.Kilograms)
					continue
				}
				for currency, value := range p.Values {
					of := a.of(AccountKey{p.Product, Worth, currency})
					of.Read = of.Read.Add(value)
					of.add(k, p.Rows, value)
				}
			}
		}
	}
	return placed
}

// part is what a row is in a line of an account. Read and sent are what it adds to the sum of the ERP and
// to that of the platform, whatever its line is.
type part struct {
	AccountKey
	LineKey
	amount     trade.Decimal
	read, sent trade.Decimal
	bare       bool // it is in no line: what was sent is what the ERP has
}

// parts returns what a row is in the accounts.
func (r *Row) parts() (out []part) {
	var here []amount
	if r.living() {
		here = amountsOf(r.Sends, r.Document, r.ERP)
	}
	counted := map[AccountKey]trade.Decimal{} // the parts of the totals
	for _, one := range here {
		k := LineKey{Outside: r.outside(one)}
		if k.Outside == "" {
			k.State, k.Cause = r.State, r.Cause
			if r.State == trade.Accepted {
				k.Cause = ""
			}
			counted[one.AccountKey] = one.is
		}
		out = append(out, part{AccountKey: one.AccountKey, LineKey: k, amount: one.is, read: one.is})
	}
	if !r.onPlatform() || r.Sent == nil {
		return out
	}
	for _, one := range amountsOf(r.Sends, r.sentAs(), *r.Sent) {
		if one.Measure == Untyped || !one.ok {
			continue
		}
		erp, in := counted[one.AccountKey]
		delete(counted, one.AccountKey)
		p := part{AccountKey: one.AccountKey, sent: one.is, amount: one.is.Sub(erp)}
		p.After = changedAfter
		switch {
		case r.Renumbered:
			p.After = renumberedAfter
		case !r.living():
			p.After = leftAfter
		case in && p.amount.Sign() == 0:
			p.bare = true
		}
		out = append(out, p)
	}
	for key, erp := range counted { // it was sent as something else, or without this
		out = append(out, part{AccountKey: key, LineKey: LineKey{After: changedAfter}, amount: erp.Neg()})
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

// done returns the accounts by product and measure. whole is that of the report, placed also.
func (a accounts) done(whole, placed bool) []Account {
	out := make([]Account, 0, len(a))
	for _, b := range a {
		b.Whole = whole && (placed || b.Measure != Delivered || b.Product == "")
		slices.SortFunc(b.Outside, func(x, y AccountLine) int {
			return cmp.Compare(slices.Index(outsides, x.Outside), slices.Index(outsides, y.Outside))
		})
		slices.SortFunc(b.States, func(x, y AccountLine) int {
			return cmp.Or(cmp.Compare(slices.Index(summaryOrder, x.State), slices.Index(summaryOrder, y.State)),
				y.Amount.Cmp(x.Amount), cmp.Compare(x.Cause, y.Cause))
		})
		out = append(out, *b)
	}
	slices.SortFunc(out, func(x, y Account) int {
		return cmp.Or(trade.CompareBool(x.Product == "", y.Product == ""), cmp.Compare(x.Product, y.Product),
			cmp.Compare(slices.Index(Measures, x.Measure), slices.Index(Measures, y.Measure)),
			cmp.Compare(x.Currency, y.Currency))
	})
	return out
}

// Why returns what a line is, in words: why it is outside, or its state with its cause.
func (l AccountLine) Why(o Options) string {
	if l.Outside != "" {
		return sentence("account."+string(l.Outside), o.Lang)
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
func AccountWord(id string, lang trade.Lang) string { return sentence("account."+id, lang) }

// accounts writes each account from the ERP to the platform, line by line.
func (p *printer) accounts() {
	for _, a := range p.sum.Accounts {
		add := func(id, text string, l AccountLine, rows any, role string) {
			state := Label{string(l.State), ""}
			if l.State != "" {
				state.Text = l.State.Label(p.Lang)
			}
			var kg, value any = l.Amount, nil
			if a.Measure == Worth {
				kg, value = nil, l.Amount
			}
			p.row(a.Product, p.label("account.measure.", string(a.Measure)), Label{id, text}, state,
				Label{l.Cause, l.cause(p.Options)}, rows, kg, a.Currency, value, p.label("account.role.", role))
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
	}
}

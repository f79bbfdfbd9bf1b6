package pages

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// The units in which people read an account; money is in its currency.
const (
	inTonnes = "t"
	inSacas  = "sc"
	inMoney  = "money"
)

// thousandsFrom is from which value on tables have money in thousands.
var thousandsFrom = trade.NewDecimal(100_000_000, 0)

// accountRow is an account in one unit, from the ERP to the platform. Contracts, deliveries and fixations are the
// same grain: they are shown beside each other, and never added up.
type accountRow struct {
	reconcile.Account
	Unit      string        // t, sc, or the sign of the currency
	TableUnit string        // in which the table has it: the same, or thousands of a currency
	Before    []accountStep // from what the query returns to the total of the ERP
	Steps     []accountStep // from there to the total of the platform
	Causes    []accountStep // what the steps between the totals are made of, the largest first
	Gap       accountStep   // what is missing on the platform
	Rest      trade.Decimal // what no line explains; anything but 0 is an error of the program
}

// Columns returns how many columns a table of such lines has.
func (r accountRow) Columns() int { return len(r.Steps) + 2 }

// accountStep is a total of an account, or what leads from one total to the next.
type accountStep struct {
	picture.Step
	Rows  int // of what is no total
	Exact string
	Sacas string // of a closing, which is read in both
	Whole string // what a cause means
	State string // of a cause, in a word
}

// Some reports whether a step is a total, or something.
func (s accountStep) Some() bool { return s.Total || s.Rows > 0 || s.Amount.Sign() != 0 }

// tableOf returns accounts without the steps that none of them has. whole: with what the query returns, and what
// of it is in no total.
func tableOf(rows []accountRow, whole bool) []accountRow {
	if len(rows) == 0 {
		return nil
	}
	if whole && !slices.ContainsFunc(rows, func(r accountRow) bool { return !r.Whole }) &&
		slices.ContainsFunc(rows, func(r accountRow) bool { return r.Before[1].Rows > 0 }) {
		for i := range rows {
			rows[i].Steps = slices.Concat(rows[i].Before, rows[i].Steps)
		}
	}
	for i := len(rows[0].Steps) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(rows, func(r accountRow) bool { return r.Steps[i].Some() }) {
			for n := range rows {
				rows[n].Steps = slices.Delete(rows[n].Steps, i, i+1)
			}
		}
	}
	return rows
}

// accountFall is the waterfall of an account: a bar for each step that it has.
type accountFall struct {
	picture.Fall
	Steps []accountStep
	Said  string // where its axis begins
}

// accounting makes the lines of accounts.
type accounting struct {
	v     view.Voice
	o     reconcile.Options
	past  bool // of a closing: its rows have changed since, and nothing leads to them
	large bool // tables have money in thousands
}

// accountingOf returns what makes the lines of these accounts.
func accountingOf(v view.Voice, o reconcile.Options, past bool, list []reconcile.Account) accounting {
	return accounting{v, o, past, slices.ContainsFunc(list, func(a reconcile.Account) bool {
		return a.Measure == reconcile.Worth && (a.Read.Cmp(thousandsFrom) >= 0 || a.Sent.Cmp(thousandsFrom) >= 0)
	})}
}

// say returns an amount in a unit, exactly or, as an overview has it, in whole ones.
func (c accounting) say(unit string, amount trade.Decimal, exact bool) string {
	of, thousands := amount, c.large && unit == inMoney && !exact
	switch unit {
	case inSacas:
		of, _ = amount.Sacas(2)
	case inTonnes:
		of = amount.Tonnes()
	}
	if thousands {
		of = amount.Mul(trade.NewDecimal(1, 3))
	}
	switch whole := of.Round(0); {
	case !exact && (whole.Sign() != 0 || of.Sign() == 0):
		return c.v.Decimal(whole)
	case unit == inSacas, thousands:
		return trade.NumberText(of.Fixed(2), c.o.Lang)
	case unit == inTonnes:
		return c.v.BareTonnes(amount)
	}
	return trade.MoneyText(amount.Round(2), c.o.Lang)
}

// fall returns the waterfall of an account.
func (c accounting) fall(r accountRow, unit string) (out accountFall) {
	if r.Whole && r.Before[1].Rows > 0 {
		out.Steps = r.Before
	}
	out.Steps = slices.DeleteFunc(slices.Concat(out.Steps, r.Steps), func(s accountStep) bool { return !s.Some() })
	out.Fall = picture.Falling(trade.Map(out.Steps, func(s accountStep) picture.Step { return s.Step })...)
	out.Said = c.say(unit, out.From, true)
	return out
}

// row returns an account in a unit.
func (c accounting) row(a reconcile.Account, unit string) accountRow {
	out := accountRow{Account: a, Unit: unit}
	if unit == inMoney {
		out.Unit = trade.Symbol(a.Currency)
	}
	out.TableUnit = out.Unit
	if c.large && unit == inMoney {
		out.TableUnit = c.v.T("%s thousand", out.Unit)
	}
	out.Rest = a.Proof().Add(a.SentProof())
	a = a.Rounded()
	step := func(class, name string, of trade.Figure, amount trade.Decimal, leads, total bool) accountStep {
		s, said := accountStep{Rows: of.Rows, Exact: c.say(unit, amount, true)}, c.say(unit, amount, false)
		if c.past && unit == inTonnes {
			s.Sacas = c.say(inSacas, amount, true) + " sc"
		}
		if !total && class != "differs" && amount.Sign() > 0 {
			said, s.Exact = "+"+said, "+"+s.Exact
		}
		s.Mark = picture.Mark{Class: class, Name: name, Said: said, Amount: amount}
		s.Total = total
		if leads && !c.past && (s.Rows > 0 || amount.Sign() != 0) {
			s.Path = figurePath(of.Of)
		}
		return s
	}
	gap := a.Total(c.o.Filter, reconcile.Difference)
	out.Gap = step("differs", c.v.T("Difference"), gap, a.ERP().Sub(a.Sent), true, false)
	part := func(class, name string, l reconcile.AccountLine, amount trade.Decimal) accountStep {
		of, leads := a.Figure(c.o.Filter, l)
		s := step(class, name, of, amount, leads, false)
		if name == "" {
			s.Whole = trade.MaskDocuments(l.Why(c.o))
			s.Name = trade.CauseName(l.Cause, strings.TrimPrefix(s.Whole, l.State.Label(c.o.Lang)+": "), c.o.Lang)
		}
		return s
	}
	var outside trade.Figure
	for _, l := range a.Outside {
		outside.Kilograms = outside.Kilograms.Sub(l.Amount)
		outside.Rows += l.Rows
		if a.Whole {
			out.Causes = append(out.Causes, part("none", "", l, l.Amount.Neg()))
		}
	}
	out.Before = []accountStep{
		step("erp", c.v.T("report.bar.read"), trade.Figure{}, a.Read, false, true),
		step("none", c.v.T("report.bar.outside"), outside, outside.Kilograms, false, false),
	}
	of := a.Total(c.o.Filter, reconcile.InERP)
	out.Steps = []accountStep{step("erp", c.v.T("in the ERP"), of, a.ERP(), true, true)}
	for _, p := range stateParts[1:] {
		var amount trade.Decimal
		of.Of.States, of.Rows = p.states, 0
		for _, l := range a.States {
			if !slices.Contains(p.states, l.State) {
				continue
			}
			of.Rows += l.Rows
			amount = amount.Add(l.Amount)
			name := ""
			if l.Cause == "" {
				name = c.v.T(p.key)
			}
			cause := part(p.class, name, l, l.Amount.Neg())
			cause.State = c.v.T(p.key)
			out.Causes = append(out.Causes, cause)
		}
		out.Steps = append(out.Steps, step(p.class, c.v.T(p.key), of, amount.Neg(), true, false))
	}
	for i, l := range []reconcile.AccountLine{a.Changed, a.Left, a.Renumbered} {
		after := part("erp", c.v.T("report.bar."+reconcile.Afters[i]), l, l.Amount)
		out.Steps = append(out.Steps, after)
		if after.Some() {
			out.Causes = append(out.Causes, after)
		}
	}
	sent := a.Total(c.o.Filter, reconcile.OnPlatform)
	out.Steps = append(out.Steps, step("sent", c.v.T("sent"), sent, a.Sent, true, true))
	tellApart(out.Causes, func(s *accountStep) (*string, string) { return &s.Name, s.State })
	slices.SortStableFunc(out.Causes, func(x, y accountStep) int { return y.Amount.Abs().Cmp(x.Amount.Abs()) })
	return out
}

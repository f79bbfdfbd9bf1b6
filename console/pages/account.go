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

// accountTable has a line for each account of products, from the ERP to the platform. Contracts, deliveries
// and fixations are the same grain: they are shown beside each other, and never added up.
type accountTable struct {
	Heads []string // of the steps that some account has
	Rows  []accountRow
}

// accountRow is an account in one unit.
type accountRow struct {
	reconcile.Account
	Unit   string        // t, sc, or the sign of the currency
	Before []accountStep // from what the query returns to the total of the ERP
	Steps  []accountStep // from there to the total of the platform
	Causes []accountStep // what the steps are made of, the largest first
	Gap    accountStep   // what is missing on the platform
	Open   string        // of it, what somebody still has to decide or to send; "" = nothing
	Rest   string        // what no line explains; anything but 0 is an error of the program
}

// accountStep is a total of an account, or what leads from one total to the next.
type accountStep struct {
	picture.Step
	Rows  int // of what is no total
	Exact string
	Whole string // what a cause means
}

// Some reports whether a step is a total, or something.
func (s accountStep) Some() bool { return s.Total || s.Rows > 0 || s.Amount.Sign() != 0 }

// core are the steps of an account that are shown even where they are nothing.
const core = 6

// tableOf returns a table of accounts, without the steps that none of them has. whole: with what the query
// returns, and what of it is in no total.
func tableOf(rows []accountRow, whole bool) (out accountTable) {
	out.Rows = rows
	if len(rows) == 0 {
		return out
	}
	first := 0
	if whole && slices.ContainsFunc(rows, func(r accountRow) bool { return r.Before[1].Rows > 0 }) {
		for i := range rows {
			rows[i].Steps = slices.Concat(rows[i].Before, rows[i].Steps)
		}
		first = len(rows[0].Before)
	}
	for i := len(rows[0].Steps) - 1; i >= 0; i-- {
		if i >= first+core && !slices.ContainsFunc(rows, func(r accountRow) bool { return r.Steps[i].Some() }) {
			for n := range rows {
				rows[n].Steps = slices.Delete(rows[n].Steps, i, i+1)
			}
			continue
		}
		out.Heads = append(out.Heads, rows[0].Steps[i].Name)
	}
	slices.Reverse(out.Heads)
	return out
}

// Fall returns the waterfall of an account, of the steps that it has.
func (r accountRow) Fall() (out accountFall) {
	if r.Whole && r.Before[1].Rows > 0 {
		out.Steps = r.Before
	}
	out.Steps = slices.DeleteFunc(slices.Concat(out.Steps, r.Steps), func(s accountStep) bool { return !s.Some() })
	out.Fall = picture.Falling(trade.Map(out.Steps, func(s accountStep) picture.Step { return s.Step })...)
	return out
}

// accountFall is the waterfall of an account: a bar for each step.
type accountFall struct {
	picture.Fall
	Steps []accountStep
}

// accounting makes the lines of accounts.
type accounting struct {
	v    view.Voice
	o    reconcile.Options
	past bool // of a closing: its rows have changed since, nothing leads to them, and money is said exactly
}

// say returns an amount in a unit, exactly or as an overview has it.
func (c accounting) say(a reconcile.Account, unit string, amount trade.Decimal, exact bool) string {
	switch {
	case unit == inSacas:
		sacas, _ := amount.Sacas(2)
		return c.v.Decimal(sacas)
	case unit == inTonnes:
		return c.v.BareTonnes(amount)
	case exact:
		return c.v.Money(a.Currency, amount)
	}
	return c.v.Decimal(amount.Round(0))
}

// row returns an account in a unit.
func (c accounting) row(a reconcile.Account, unit string) accountRow {
	out := accountRow{Account: a, Unit: unit}
	if unit == inMoney {
		out.Unit = view.Symbol(a.Currency)
	}
	out.Rest = c.say(a, unit, a.Proof().Add(a.SentProof()), false)
	step := func(class, name string, of trade.Figure, amount trade.Decimal, leads, total bool) accountStep {
		s := accountStep{Rows: of.Rows, Exact: c.say(a, unit, amount, true)}
		s.Mark = picture.Mark{Class: class, Name: name, Said: c.say(a, unit, amount, c.past), Amount: amount}
		s.Total = total
		if leads && !c.past && (s.Rows > 0 || amount.Sign() != 0) {
			s.Path = figurePath(of.Of)
		}
		return s
	}
	out.Gap = step("differs", c.v.T("Difference"), a.Difference(c.o.Filter), a.ERP().Sub(a.Sent), true, false)
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
		out.Causes = append(out.Causes, part("none", "", l, l.Amount.Neg()))
	}
	out.Before = []accountStep{
		step("erp", c.v.T("report.bar.read"), trade.Figure{}, a.Read, false, true),
		step("none", c.v.T("report.bar.outside"), outside, outside.Kilograms, false, false),
	}
	var open trade.Decimal
	for i, p := range standParts {
		of := a.Total(c.o.Filter, false)
		if i == 0 {
			out.Steps = append(out.Steps, step("erp", c.v.T("report.bar.erp"), of, a.ERP(), true, true))
			continue
		}
		var amount trade.Decimal
		of.Of.States = p.states
		for _, l := range a.States {
			if !slices.Contains(p.states, l.State) {
				continue
			}
			of.Rows, amount = of.Rows+l.Rows, amount.Add(l.Amount)
			if l.Cause != "" {
				out.Causes = append(out.Causes, part(p.class, "", l, l.Amount.Neg()))
			}
		}
		if p.class != "none" {
			open = open.Add(amount)
		}
		out.Steps = append(out.Steps, step(p.class, c.v.T(p.key), of, amount.Neg(), p.states[0] != "", false))
	}
	if open.Sign() != 0 {
		out.Open = c.say(a, unit, open, true)
	}
	for i, l := range []reconcile.AccountLine{a.Changed, a.Left, a.Renumbered} {
		out.Steps = append(out.Steps, part("erp", c.v.T("report.bar."+reconcile.Afters[i]), l, l.Amount))
	}
	of := a.Total(c.o.Filter, true)
	out.Steps = append(out.Steps, step("sent", c.v.T("report.bar.sent"), of, a.Sent, true, true))
	slices.SortStableFunc(out.Causes, func(x, y accountStep) int { return y.Amount.Abs().Cmp(x.Amount.Abs()) })
	return out
}

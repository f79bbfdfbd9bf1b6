package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"

	"github.com/safrasync/safrasync/trade"
)

// demoWidth is how wide the report may be, in characters: paper in landscape and any terminal have room for it.
const demoWidth = 100

// demoPrinter writes the report for people.
type demoPrinter struct{ *App }

// line writes a paragraph within the width.
func (p *demoPrinter) line(ph phrase, args ...any) {
	fmt.Fprintln(p.out, wrapped(demoWidth, p.text(ph, args...)))
}

func (p *demoPrinter) title(ph phrase, args ...any) {
	fmt.Fprintln(p.out)
	p.line(ph, args...)
	fmt.Fprintln(p.out)
}

// opening says where every row is, and that the second run sent nothing.
func (p *demoPrinter) opening(s demoScope, first, second demoRun) {
	p.title(demoTitle)
	p.equations(first)
	outside := s.Rows - *first.report(trade.OrderCommitments).InScope
	p.line(demoOutside, s.Rows, outside, s.Drafts, s.Cancelled, s.Nameless, s.Doubles, s.Open+s.Void, s.Open, s.Void)
	p.line(demoRepeated, p.counts(second.platform)) // sentOnly has proved the 0
	for _, e := range second.of(trade.OrderCommitments, trade.InDoubt) {
		p.line(demoLostAnswer, e.Key)
	}
	for _, e := range first.entries {
		if e.Flags.Has(trade.Twin) {
			p.line(demoTwins, e.Sends.Label(p.lang()), e.Key, strings.Join(first.sameContent(e), ", "))
		}
	}
}

// counts are the platform's own counts: "333 contratos, 99 entregas e 44 linhas de rastreabilidade".
func (p *demoPrinter) counts(of map[trade.Kind]int) string {
	var out []string
	for _, kind := range trade.Kinds {
		out = append(out, p.count(kind, of[kind]))
	}
	return p.text(demoAnd, strings.Join(out[:2], ", "), out[2])
}

// count is a number of records of a kind.
func (p *demoPrinter) count(kind trade.Kind, n int) string {
	words := demoCounts[kind]
	if n == 1 {
		return p.text(words.one, n)
	}
	return p.text(words.many, n)
}

// sameContent gives the other rows with the content of this one.
func (r *demoRun) sameContent(e trade.Entry) []string {
	var out []string
	for _, o := range r.entries {
		if o.Job == e.Job && o.PayloadHash.Same(e.PayloadHash) && o.Key != e.Key {
			out = append(out, o.Key)
		}
	}
	return out
}

// equations are the lines of truth, one for each kind: rows in the ERP = the sum of the states.
func (p *demoPrinter) equations(run demoRun) {
	for _, kind := range trade.Kinds {
		var terms []string
		states := run.report(kind).States
		for _, state := range append([]trade.State{trade.Accepted}, trade.States...) {
			n := states[state]
			if n == 0 || state == trade.Accepted && len(terms) > 0 {
				continue
			}
			words := demoTerms[state]
			if kind != trade.OrderCommitments {
				words = demoTermsOfRows[state]
			}
			switch {
			case words.one == phrase{}:
				terms = append(terms, fmt.Sprintf("%d %s", n, state.Label(p.lang())))
			case n == 1:
				terms = append(terms, p.text(words.one))
			default:
				terms = append(terms, p.text(words.many, n))
			}
		}
		p.line(demoEquation, p.count(kind, *run.report(kind).InScope), strings.Join(terms, " + "))
	}
}

// demoSum is one line of what was sent.
type demoSum struct {
	product, unit, currency   string
	contracts                 int
	purchase, fixed, unpriced decimal.Decimal
	value                     decimal.Decimal
}

// sent sums what the platform has, from what was sent to it: the amounts to be fixed apart, because a later fixation is the same grain.
func (p *demoPrinter) sent(run demoRun) {
	sums := map[string]*demoSum{}
	for _, e := range run.of(trade.OrderCommitments, trade.Accepted) {
		var c struct {
			Amount   decimal.Decimal `json:"amount"`
			Price    decimal.Decimal `json:"price"`
			Product  string          `json:"product"`
			Unit     string          `json:"unit_of_measurement"`
			Currency string          `json:"currency"`
			Type     trade.OrderType `json:"order_type"`
		}
		if json.Unmarshal(e.Payload, &c) != nil {
			continue // unreachable: the platform accepted it
		}
		key := c.Product + " " + c.Unit + " " + c.Currency
		if sums[key] == nil {
			sums[key] = &demoSum{product: c.Product, unit: c.Unit, currency: c.Currency}
		}
		s := sums[key]
		s.contracts++
		s.value = s.value.Add(c.Amount.Mul(c.Price))
		switch c.Type {
		case trade.Compra:
			s.purchase = s.purchase.Add(c.Amount)
		case trade.AFixar:
			s.unpriced = s.unpriced.Add(c.Amount)
		default:
			s.fixed = s.fixed.Add(c.Amount)
		}
	}
	p.title(demoSentTitle)
	t := p.newTable(demoSentHead...)
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		s := sums[key]
		t.AppendRow(table.Row{
			s.product, s.unit, cmp.Or(s.currency, p.text(demoNoCurrency)), s.contracts,
			p.number(s.purchase, -1), p.number(s.fixed, -1), p.number(s.unpriced, -1), p.number(s.value, 2),
		})
	}
	var right []table.ColumnConfig
	for n := 4; n <= 8; n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.Render()
}

// causes are the tables of what did not go, one for each kind, with one line for each task.
func (p *demoPrinter) causes(run demoRun) {
	p.title(demoCausesTitle)
	for i, kind := range trade.Kinds {
		if i > 0 {
			fmt.Fprintln(p.out)
		}
		t := p.newTable(demoCausesHead[kind], demoCausesVolume, demoCausesReason)
		t.Style().Options.SeparateRows = true
		const volumeWidth, reasonWidth = 20, 60
		for _, g := range run.troubles(kind) {
			t.AppendRow(table.Row{g.Rows, wrapped(volumeWidth, p.volumes(g)...), wrapped(reasonWidth, p.reason(g)...)})
		}
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight}})
		t.Render()
	}
}

// demoExamples is how many contracts each cause names.
const demoExamples = 2

// reason says what a trouble means, who cures it, what to do, and which contracts are examples.
func (p *demoPrinter) reason(g *trouble) []string {
	advice := g.advice(p.voice())
	lines := []string{upperFirst(p.voice().cause(g)) + ".", p.text(demoWho, advice.Who) + " " + advice.Do}
	var keys []string
	last := ""
	for _, e := range g.Samples[:min(demoExamples, len(g.Samples))] {
		detail := g.detail(e, p.lang())
		if detail != last && len(keys) > 0 {
			lines = append(lines, p.example(keys, last))
			keys = nil
		}
		keys, last = append(keys, e.Key), detail
	}
	return append(lines, p.example(keys, last))
}

// example names contracts and what is particular about them.
func (p *demoPrinter) example(keys []string, detail string) string {
	text := p.text(demoExample, strings.Join(keys, ", "))
	if detail != "" {
		text += " – " + detail
	}
	return text
}

// volumes are the sums of a trouble, one line for each product and unit.
func (p *demoPrinter) volumes(g *trouble) []string {
	var out []string
	for _, v := range g.Volumes {
		product := cmp.Or(v.Product, p.text(demoNoProduct))
		if v.Unit == "" || v.Amount.Sign() <= 0 {
			out = append(out, product+": "+p.text(demoNoVolume))
			continue
		}
		out = append(out, product+" "+p.number(decimal.RequireFromString(v.Amount.String()), -1)+" "+string(v.Unit))
	}
	return out
}

// cured tells the third run: what was corrected went by itself and took along what waited for it; what had gone did not go again.
func (p *demoPrinter) cured(cure demoCure, first, third demoRun) {
	p.title(demoCureTitle)
	p.line(demoCureBefore, cure.Payday, cure.Price, cure.Wallet)
	p.line(demoCureAfter, third.report(trade.OrderCommitments).Sent, cure.Blocked)
	p.line(demoCureChildren,
		p.count(trade.Deliveries, third.report(trade.Deliveries).Sent), p.count(trade.Traceability, third.report(trade.Traceability).Sent))
	p.line(demoCureFlag, cure.Altered, cure.Moved, trade.Changed.Label(p.lang()))
	fresh := map[trade.Kind]int{}
	for _, kind := range trade.Kinds {
		fresh[kind] = third.report(kind).Sent
	}
	p.line(demoCureProof, p.counts(third.platform))
	p.line(demoCureFirst, p.counts(first.platform))
	p.line(demoCureThird, p.counts(fresh))
	fmt.Fprintln(p.out)
	p.equations(third)
}

// further says what can be tried next.
func (p *demoPrinter) further(d *demo) {
	p.title(demoFurther)
	if !d.kept {
		p.line(demoGone)
		return
	}
	p.line(demoKept, d.dir)
	fmt.Fprintln(p.out)
	base := "  safrasync --config " + shellWord(d.path(demoConfigFile)) + " "
	example := d.erp.first("purchase without a payday").key()
	wallet := d.erp.first("wallet not on the platform").key()
	waiting := d.erp.ticket("of a contract that the platform refuses").key(1)
	for _, c := range []string{
		"status", "rows --state invalid", "rows show contracts '" + wallet + "'", "why contracts '" + d.erp.first("draft").key() + "'",
		"why deliveries '" + waiting + "'", "preview contracts '" + example + "'", "sync --dry-run",
	} {
		fmt.Fprintln(p.out, base+c)
	}
	fmt.Fprintln(p.out)
	p.line(demoSandbox)
	fmt.Fprintln(p.out)
	fmt.Fprintf(p.out, "  safrasync sandbox --listen %s --world %s --api-key %s\n", strings.TrimPrefix(d.platform.URL, "http://"), shellWord(d.path(demoWorldFile)), demoKey)
}

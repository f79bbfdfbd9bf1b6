package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

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

// opening says where every contract is, and that the second run sent nothing.
func (p *demoPrinter) opening(s demoScope, first, second demoRun) {
	p.title(demoTitle)
	p.equation(first)
	outside := s.Rows - *first.report.InScope
	p.line(demoOutside, s.Rows, outside, s.Drafts, s.Cancelled, s.Nameless, s.Doubles)
	p.line(demoRepeated, second.report.Sent, len(second.platform))
	for _, e := range first.entries {
		if e.Flags.Has(trade.Twin) {
			p.line(demoTwins, e.Key, strings.Join(first.sameContent(e), ", "))
		}
	}
}

// sameContent gives the other contracts with the content of this one.
func (r demoRun) sameContent(e trade.Entry) []string {
	var out []string
	for _, o := range r.entries {
		if o.PayloadHash == e.PayloadHash && o.Key != e.Key {
			out = append(out, o.Key)
		}
	}
	return out
}

// equation is the line of truth: contracts in the ERP = the sum of the states.
func (p *demoPrinter) equation(run demoRun) {
	var terms []string
	for _, state := range append([]trade.State{trade.Accepted}, trade.States...) {
		n := run.report.States[state]
		if n == 0 || state == trade.Accepted && len(terms) > 0 {
			continue
		}
		term, ok := demoTerms[state]
		switch {
		case !ok:
			terms = append(terms, fmt.Sprintf("%d %s", n, state.Label(p.lang())))
		case n == 1:
			terms = append(terms, p.text(term.one))
		default:
			terms = append(terms, p.text(term.many, n))
		}
	}
	p.line(demoEquation, *run.report.InScope, strings.Join(terms, " + "))
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
	for _, e := range run.of(trade.Accepted) {
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

// causes is the table of what did not go: one line for each task.
func (p *demoPrinter) causes(run demoRun) {
	kept := run.kept()
	p.title(demoCausesTitle, len(kept))
	t := p.newTable(demoCausesHead...)
	t.Style().Options.SeparateRows = true
	const volumeWidth, reasonWidth = 20, 60
	for _, g := range troublesOf(kept, run.jobs) {
		t.AppendRow(table.Row{g.Rows, wrapped(volumeWidth, p.volumes(g)...), wrapped(reasonWidth, p.reason(g)...)})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight}})
	t.Render()
}

// demoExamples is how many contracts each cause names.
const demoExamples = 2

// reason says what a trouble means, who cures it, what to do, and which contracts are examples.
func (p *demoPrinter) reason(g *trouble) []string {
	advice := g.advice(p.lang())
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
		if v.Unit == "" || v.Amount.Sign() <= 0 {
			out = append(out, v.Product+": "+p.text(demoNoVolume))
			continue
		}
		out = append(out, v.Product+" "+p.number(decimal.RequireFromString(v.Amount.String()), -1)+" "+string(v.Unit))
	}
	return out
}

// cured tells the third run: what was corrected went by itself, what had gone did not go again.
func (p *demoPrinter) cured(cure demoCure, run demoRun) {
	p.title(demoCureTitle)
	p.line(demoCureBefore, cure.Payday, cure.Price, cure.Wallet)
	p.line(demoCureAfter, run.report.Sent, cure.Blocked)
	p.line(demoCureFlag, cure.Altered, trade.Changed.Label(p.lang()))
	p.line(demoCureProof, len(run.platform), len(run.platform)-run.report.Sent, run.report.Sent)
	p.equation(run)
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
	for _, c := range []string{
		"status", "rows --state invalid", "rows show contracts '" + wallet + "'", "why contracts '" + d.erp.first("draft").key() + "'",
		"preview contracts '" + example + "'", "sync --dry-run",
	} {
		fmt.Fprintln(p.out, base+c)
	}
	fmt.Fprintln(p.out)
	p.line(demoSandbox)
	fmt.Fprintln(p.out)
	fmt.Fprintf(p.out, "  safrasync sandbox --listen %s --world %s --api-key %s\n", strings.TrimPrefix(d.platform.URL, "http://"), shellWord(d.path(demoWorldFile)), demoKey)
}

// shellWord quotes a path where a shell would take it apart.
func shellWord(path string) string {
	for _, r := range path {
		if !strings.ContainsRune("/._-+:@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
		}
	}
	return path
}

// wrapped breaks each line at the width.
func wrapped(width int, lines ...string) string {
	var out []string
	for _, line := range lines {
		for _, part := range strings.Split(text.WrapSoft(line, width), "\n") {
			out = append(out, strings.TrimRight(part, " "))
		}
	}
	return strings.Join(out, "\n")
}

// upperFirst begins a sentence.
func upperFirst(sentence string) string {
	_, size := utf8.DecodeRuneInString(sentence)
	return strings.ToUpper(sentence[:size]) + sentence[size:]
}

// number writes a decimal as the language does; digits after the point are kept, or rounded half away from zero when scale is given. Zero is
// a dash.
func (p *demoPrinter) number(d decimal.Decimal, scale int32) string {
	if d.IsZero() {
		return "–"
	}
	plain := d.Abs().String()
	if scale >= 0 {
		plain = d.Abs().StringFixed(scale)
	}
	whole, fraction, broken := strings.Cut(plain, ".")
	group, point := ".", ","
	if p.lang() == trade.English {
		group, point = ",", "."
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + group + whole[i:]
	}
	if d.IsNegative() {
		whole = "-" + whole
	}
	if broken {
		whole += point + fraction
	}
	return whole
}

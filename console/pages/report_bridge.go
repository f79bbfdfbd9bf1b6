package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// ReportShown is a report as a page shows it.
type ReportShown struct {
	*paper.Report
	Products []ProductBridges
	Totals   []TotalsGroup
}

// ProductBridges are the bridges of one product. Contracts, deliveries and fixations are the same
// grain: they are shown beside each other, and never added up.
type ProductBridges struct {
	Product string
	Bridges []Bridge
}

// Bridge is the way of one measure of a product from the ERP to the platform, as a picture and line
// by line.
type Bridge struct {
	reconcile.Account
	Fall  picture.Fall
	Lines []BridgeLine
}

// Sacas returns a weight in sacas of 60 kg, with two decimals.
func (Bridge) Sacas(kg trade.Decimal) trade.Decimal {
	sacas, _ := kg.Sacas(2)
	return sacas
}

// BridgeLine is a total of a bridge, or what leads from one total to the next.
type BridgeLine struct {
	What   string // masked
	Rows   int    // of a part
	Amount trade.Decimal
	Path   string // address of the list of its rows; "" = none
	Total  bool
}

// Difference returns how much of the ERP's total the platform does not have.
func (b Bridge) Difference() trade.Decimal { return b.ERP().Sub(b.Sent) }

// Rest returns what no line of the bridge explains. Anything but zero is an error of the program.
func (b Bridge) Rest() trade.Decimal { return b.Proof().Add(b.SentProof()) }

// Open returns what somebody still has to decide or to send.
func (b Bridge) Open() (sum trade.Decimal) {
	for _, l := range b.States {
		if l.State != "" && !slices.Contains(reconcile.Settled, l.State) {
			sum = sum.Add(l.Amount)
		}
	}
	return sum
}

// Money reports whether the bridge is one of money; otherwise it is one of kilograms.
func (b Bridge) Money() bool { return b.Measure == reconcile.Worth }

// linked returns a report as a page shows it, with the names of producers and places.
func (p *Pages) linked(q *web.Request, all *paper.Report, o reconcile.Options) (*ReportShown, error) {
	var keys []trade.ParentKey
	for _, t := range all.Sections {
		for _, r := range t.Rows {
			if r.Key != "" {
				keys = append(keys, trade.ParentKey{Job: r.Names["job"], Key: r.Key})
			}
		}
	}
	ids, err := p.office.RowIDs(q.Context(), keys)
	if err != nil {
		return nil, err
	}
	shown := reportOf(all, q.Voice(), o, ids)
	for _, group := range shown.Totals {
		codes := trade.Map(group.Rows, func(r paper.Line) string { return r.Name })
		called, err := p.office.Called(q.Context(), group.By, codes)
		if err != nil {
			return nil, err
		}
		lead := slices.IndexFunc(group.Columns, func(c paper.Column) bool { return c.Lead })
		for i := range group.Rows {
			if label := called[group.Rows[i].Name]; label != "" && lead >= 0 { // the name stands above the code
				c := &group.Rows[i].Cells[lead]
				c.Beneath, c.Text = append([]string{c.Text}, c.Beneath...), view.Mask(label)
			}
		}
	}
	return shown, nil
}

// reportOf returns a copy of a report as a page shows it, with links to the rows behind its lines. ids are
// those of its rows.
func reportOf(all *paper.Report, v view.Voice, o reconcile.Options, ids map[trade.ParentKey]int64) *ReportShown {
	shown, past := *all, all.Head.Kind != reconcile.NowKind
	out := &ReportShown{Report: &shown, Products: bridgesOf(all.Accounts, v, o, past)}
	shown.Sections = slices.Clone(all.Sections)
	for i := range shown.Sections {
		t := &shown.Sections[i]
		t.Rows = slices.Clone(t.Rows)
		for j := range t.Rows {
			r := &t.Rows[j]
			r.Cells = slices.Clone(r.Cells)
			lead := slices.IndexFunc(t.Columns, func(c paper.Column) bool { return c.Lead })
			if t.ID == reconcile.ExceptionsSection { // a decision about no document is led to by its name
				of := "act"
				if r.Key != "" {
					of = "key"
				}
				lead = slices.IndexFunc(t.Columns, func(c paper.Column) bool { return c.ID == of })
			}
			if path := linePath(t.ID, *r, ids); path != "" && lead >= 0 && !past {
				r.Cells[lead].Path = path
			}
		}
		if t.ID == reconcile.TotalsSection {
			for _, r := range t.Rows { // by dimension
				by := reconcile.By(r.Names["by"])
				if len(out.Totals) == 0 || out.Totals[len(out.Totals)-1].By != by {
					out.Totals = append(out.Totals, TotalsGroup{By: by, Table: paper.Table{Section: t.Section}})
				}
				of := &out.Totals[len(out.Totals)-1]
				of.Rows = append(of.Rows, r)
			}
		}
	}
	return out
}

// linePath returns the address of what a line of a section is about; "" = there is none.
func linePath(section reconcile.SectionID, r paper.Line, ids map[trade.ParentKey]int64) string {
	switch {
	case section == reconcile.BridgeSection:
		return bridgePath(r.Names["job"], r.Names["line"])
	case section == reconcile.TotalsSection:
		query := url.Values{"show": {"1"}} // the reconciliation of what the total is the sum of
		field := map[string]string{
			string(reconcile.BySeason): "harvest", string(reconcile.ByProducer): "producer",
			string(reconcile.ByPlace): "place",
		}[r.Names["by"]]
		for field, text := range map[string]string{field: r.Name, "product": r.Product} {
			switch {
			case field == "":
			case text == "", strings.Contains(text, ","): // a filter cannot name it
				return ""
			default:
				query.Set(field, text)
			}
		}
		return "/report?" + query.Encode()
	}
	if id := ids[trade.ParentKey{Job: r.Names["job"], Key: r.Key}]; id > 0 {
		return "/rows/" + strconv.FormatInt(id, 10)
	}
	if section == reconcile.ExceptionsSection {
		return "/audit?" + url.Values{"act": {r.Names["act"]}}.Encode()
	}
	return ""
}

// TotalsGroup are the totals by one dimension.
type TotalsGroup struct {
	By reconcile.By
	paper.Table
}

// bridgePath returns the link for a line of the bridge: the rows of the ledger or, if it does not have
// them, the run that reports them.
func bridgePath(job, line string) string {
	if line == "documents" || line == "negative" {
		return figurePath(trade.RowQuery{Jobs: []string{job}, Of: trade.Selection{Line: line}})
	}
	return "/routines?" + url.Values{"job": {job}}.Encode()
}

// bridgesOf returns the bridges of each product, the largest total of the ERP first. Those of a past moment
// lead nowhere: their rows have changed since.
func bridgesOf(accounts []reconcile.Account, v view.Voice, o reconcile.Options, past bool) (out []ProductBridges) {
	most := map[string]trade.Decimal{}
	for _, a := range accounts {
		if len(out) == 0 || out[len(out)-1].Product != a.Product {
			out = append(out, ProductBridges{Product: a.Product})
		}
		b := bridging{Bridge: Bridge{Account: a}, v: v, o: o, past: past}
		if a.Whole && len(a.Outside) > 0 {
			b.total("read", "erp", a.Read, "")
		}
		var outside trade.Decimal
		for _, l := range a.Outside {
			b.part(l.Why(o), b.path(l), l.Rows, l.Amount.Neg())
			outside = outside.Sub(l.Amount)
		}
		if a.Whole && len(a.Outside) > 0 {
			b.bar("none", v.T("report.bar.outside"), "", outside, false)
		}
		b.total("erp", "erp", a.ERP(), b.leads(a.Total(o.Filter, false)))
		var last trade.State
		for _, l := range a.States {
			if l.State == trade.Accepted {
				continue
			}
			less := l.Amount.Neg()
			b.part(l.Why(o), b.path(l), l.Rows, less)
			if l.State == last && last != "" { // one bar for a state, whatever its causes are
				bar := &b.steps[len(b.steps)-1]
				bar.Amount = bar.Amount.Add(less)
				bar.Said = b.say(bar.Amount)
				continue
			}
			last = l.State
			name := v.T("report.bar.unknown")
			if l.State != "" {
				name = v.State(l.State)
				if key := barNames[l.State]; key != "" {
					name = v.T(key)
				}
			}
			total := a.Total(o.Filter, false)
			total.Of.States = []trade.State{l.State}
			b.bar(cmp.Or(stateClasses[l.State], "none"), name, b.leads(total), less, false)
		}
		for _, l := range []reconcile.AccountLine{a.Changed, a.Left, a.Renumbered} {
			if l.Rows > 0 {
				class := "rejected"
				if l.After == a.Changed.After {
					class = "waiting"
				}
				b.part(reconcile.AccountWord(l.After, o.Lang), b.path(l), l.Rows, l.Amount)
				b.bar(class, v.T("report.bar."+l.After), b.path(l), l.Amount, false)
			}
		}
		b.total("sent", "sent", a.Sent, b.leads(a.Total(o.Filter, true)))
		title := reconcile.AccountWord("measure."+string(a.Measure), o.Lang)
		b.Fall = picture.Falling(strings.TrimSpace(title+" "+a.Currency), b.say, b.steps...)
		of := &out[len(out)-1]
		of.Bridges = append(of.Bridges, b.Bridge)
		if a.Measure != reconcile.Worth && a.ERP().Cmp(most[a.Product]) > 0 {
			most[a.Product] = a.ERP()
		}
	}
	slices.SortStableFunc(out, func(a, b ProductBridges) int { return most[b.Product].Cmp(most[a.Product]) })
	return out
}

// bridging makes a bridge.
type bridging struct {
	Bridge
	steps []picture.Step
	v     view.Voice
	o     reconcile.Options
	past  bool
}

// path returns the address of the list of the rows of a line; "" = the ledger does not have them.
func (b *bridging) path(l reconcile.AccountLine) string {
	if of, ok := b.Figure(b.o.Filter, l); ok {
		return b.leads(of)
	}
	return ""
}

func (b *bridging) leads(of trade.Figure) string {
	if b.past {
		return ""
	}
	return figurePath(of.Of)
}

// say formats an amount for the picture.
func (b *bridging) say(amount trade.Decimal) string {
	if b.Money() {
		return b.v.Money(b.Currency, amount)
	}
	return b.v.Tonnes(amount)
}

// total adds a total to the lines and the picture.
func (b *bridging) total(id, class string, amount trade.Decimal, path string) {
	b.Lines = append(b.Lines, BridgeLine{
		What: reconcile.AccountWord(id, b.o.Lang), Amount: amount, Path: path, Total: true,
	})
	b.bar(class, b.v.T("report.bar."+id), path, amount, true)
}

// part adds a line that leads from one total to the next.
func (b *bridging) part(name, path string, rows int, amount trade.Decimal) {
	b.Lines = append(b.Lines, BridgeLine{What: trade.MaskDocuments(name), Rows: rows, Amount: amount, Path: path})
}

// bar adds a bar to the picture.
func (b *bridging) bar(class, name, path string, amount trade.Decimal, total bool) {
	b.steps = append(b.steps, picture.Step{
		Mark: picture.Mark{Class: class, Name: name, Said: b.say(amount), Path: path, Amount: amount}, Total: total,
	})
}

// barNames are the phrases of the states whose names do not fit beneath a bar.
var barNames = map[trade.State]string{
	trade.Waiting:  "waits",
	trade.Invalid:  "with errors",
	trade.Rejected: "refused",
	trade.InDoubt:  "in doubt",
	trade.Held:     "held",
}

// stateClasses are what the colours of the states mean in a picture.
var stateClasses = map[trade.State]string{
	trade.Waiting:  "waiting",
	trade.Pending:  "waiting",
	trade.Held:     "waiting",
	trade.Invalid:  "invalid",
	trade.Rejected: "rejected",
	trade.InDoubt:  "doubt",
	trade.Sending:  "doubt",
}

package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// link lets the lines of the part of a report lead to what they are about, with the names of producers and
// places. The report itself stays as it is: other pages show it too.
func (p *Pages) link(q *web.Request, shown *reportShown, past bool) error {
	t := *shown.Part
	t.Rows = slices.Clone(t.Rows)
	shown.Part = &t
	ids, err := p.office.RowIDs(q.Context(), trade.Map(t.Rows, func(r paper.Line) trade.ParentKey {
		return trade.ParentKey{Job: r.Names["job"], Key: r.Key}
	}))
	if err != nil {
		return err
	}
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
	by := foldedBy[t.ID]
	if by == "" {
		return nil
	}
	for _, r := range t.Rows {
		i := slices.IndexFunc(shown.Groups, func(g reportGroup) bool { return g.ID == r.Names[by] })
		if i < 0 {
			g := reportGroup{ID: r.Names[by], Table: paper.Table{Section: t.Section}}
			g.Columns = slices.Clone(t.Columns)
			g.Open = t.ID != reconcile.TotalsSection || r.Names[by] == string(reconcile.ByAll)
			i, shown.Groups = len(shown.Groups), append(shown.Groups, g)
		}
		shown.Groups[i].Rows = append(shown.Groups[i].Rows, r)
	}
	for i := range shown.Groups { // its head says what it is by
		g := &shown.Groups[i]
		g.Sums = t.Kinds[g.ID]
		g.Sums.Rows = cmp.Or(g.Sums.Rows, len(g.Rows))
		g.More = g.Sums.Rows - len(g.Rows)
		t.More -= g.More
		shown.Settled += g.Sums.Rows
		at := slices.IndexFunc(g.Columns,
			func(c paper.Column) bool { return c.ID == by || g.ID == string(reconcile.ByAll) })
		if at < 0 {
			continue
		}
		g.Columns = slices.Delete(g.Columns, at, at+1)
		g.Title = g.Rows[0].Cells[at].Text
		for j := range g.Rows {
			cells := g.Rows[j].Cells
			cells[(at+1)%len(cells)].Path = cmp.Or(cells[at].Path, cells[(at+1)%len(cells)].Path)
			g.Rows[j].Cells = slices.Delete(cells, at, at+1)
		}
	}
	shown.Settled -= shown.Divergences
	if t.ID != reconcile.TotalsSection {
		return nil
	}
	for _, group := range shown.Groups {
		codes := trade.Map(group.Rows, func(r paper.Line) string { return r.Name })
		called, err := p.office.Called(q.Context(), reconcile.By(group.ID), codes)
		if err != nil {
			return err
		}
		lead := slices.IndexFunc(group.Columns, func(c paper.Column) bool { return c.Lead })
		for i := range group.Rows {
			if label := called[group.Rows[i].Name]; label != "" && lead >= 0 { // the name stands above the code
				c := &group.Rows[i].Cells[lead]
				c.Beneath, c.Text = append([]string{c.Text}, c.Beneath...), view.Mask(label)
			}
		}
	}
	return nil
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

// foldedBy are the ids by which the lines of a section are folded.
var foldedBy = map[reconcile.SectionID]string{
	reconcile.TotalsSection: "by", reconcile.SummarySection: "job", reconcile.DivergencesSection: "kind",
}

// reportGroup are the lines of a section that are folded together.
type reportGroup struct {
	ID, Title string
	Sums      trade.Sums // of its lines, with those that only the files have
	Open      bool
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

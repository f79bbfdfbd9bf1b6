package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// rowsPage is the list of rows.
type rowsPage struct {
	Filter  rowFilter
	Tabs    []rowTab
	Chips   map[string]rowChip // by the names of the parts
	States  []trade.State
	Flags   []trade.Flag
	Causes  []rowCause
	Rows    []rowLine
	Next    string     // query of the next page; "" = this is the last one
	Totals  []rowTotal // of this filter; empty: they are very many
	Add     string     // address of the list with the sums of these; "" = it has them
	Barred  bool       // a document is searched for, by which this person must not find rows
	Reasons bool       // a row has a reason
	Labels  []string   // of the columns that show texts of the rows of one job, then parts of keys
	Wide    int        // the column with the longest text, which gets the width that is left
	Columns map[string]rowColumn
	Names   []rowNames
	Sorts   []trade.RowSort
	Query   string            // the filter without the page
	Acts    map[string]string // on all rows of the filter, with the address of the plan of each
	Ran     ran
}

// rowTotal is the sum of the rows of a job: contracts and their deliveries are the same grain.
type rowTotal struct {
	Job string
	trade.Sums
}

// ResyncPath returns the address of the plan to read the rows of the list again.
func (p rowsPage) ResyncPath() string { return ResyncPath("filter", p.Query) }

// manyActs fills in the acts that apply to at least one row of the list. A list of everything has none.
func (p *Pages) manyActs(q *web.Request, page *rowsPage) error {
	page.Acts = map[string]string{}
	if len(page.Chips) == 0 || !q.May(trade.Accountant) {
		return nil
	}
	for _, act := range acts.Named(acts.AllRows) {
		some := page.Filter.RowQuery
		some.States = slices.DeleteFunc(acts.BulkStates(act), func(s trade.State) bool {
			return len(page.Filter.States) > 0 && !slices.Contains(page.Filter.States, s)
		})
		if len(some.States) == 0 {
			continue
		}
		some.After, some.Limit = "", 1
		found, err := p.office.RowPage(q.Context(), some)
		if err != nil {
			return err
		}
		if len(found.Rows) > 0 {
			page.Acts[act] = "/act/" + act + "?" + url.Values{"filter": {page.Query}}.Encode()
		}
	}
	return nil
}

// Span returns how many columns name the sums. The day is not among them: a very large sum reaches
// over it.
func (p rowsPage) Span() int {
	span := max(1, len(p.Labels))
	switch {
	case p.Filter.Job != "":
	case p.One():
		span = 2
	default:
		span = 3
	}
	if p.Has("product") {
		span++
	}
	return span
}

// One reports whether the list is of one state: then it has the cause, and neither state nor type.
func (p rowsPage) One() bool { return p.Reasons && len(p.Filter.States) == 1 }

// Has reports whether the list shows a column: one that is sorted by, or that has something in a row.
func (p rowsPage) Has(column string) bool {
	return p.Columns[column].Sorted != "" || slices.ContainsFunc(p.Rows, func(l rowLine) bool {
		switch column {
		case "product":
			return l.Listing.Product != ""
		case "day":
			return !l.Listing.Day.IsZero()
		case "value":
			return len(l.Sums.Values) > 0
		}
		return true
	}) || column == "value" && slices.ContainsFunc(p.Totals, func(t rowTotal) bool { return len(t.Values) > 0 })
}

// rowNames are the names in a column of the list, of which people choose one.
type rowNames struct {
	Name  string // of the parameter, and of the column
	Value string
	Names []string
}

// namesShown is how many names are proposed; who types is proposed those that have the text.
const namesShown = 300

// rowTab leads to the rows of one job, or of all of them.
type rowTab struct {
	Job  string // "" = all
	Path string
	Rows *int // nil: the sums do not contain the filter
	Here bool
}

// rowLine is one row of the list.
type rowLine struct {
	trade.Entry
	Lead    string   // by what people know the row
	Texts   []string // in the columns of rowsPage.Labels
	Shown   string   // the key, documents masked
	Reason  string
	Brief   []string // the reason without columns and values; nil: it has none
	Listing trade.Listing
	Sums    trade.Sums // what the row adds to those of the list
}

// rowColumn is the head of a column by which the list can be sorted.
type rowColumn struct {
	Path   string // address of the list sorted by it
	Sorted string // ascending, descending; "" = not sorted by it
}

// spread gives each text that identifies the rows of one job a column of its own: what the
// configuration shows of them, and the parts of the key that this does not say.
func (p *rowsPage) spread(job *office.Job) {
	var columns []string // of the key; "" = it is shown already
	if job != nil {
		columns = slices.Clone(job.Key)
	}
	wide := len(columns)
	parts := make([][]string, len(p.Rows))
	for i, row := range p.Rows {
		for _, t := range row.Entry.Shown.Texts {
			if !slices.Contains(p.Labels, t.Label) {
				p.Labels = append(p.Labels, t.Label)
			}
		}
		parts[i] = strings.Split(row.Shown, " | ")
		if len(parts[i]) != wide {
			columns = nil
		}
	}
	if len(p.Labels) == 0 { // the key is all that there is
		return
	}
	for c := range columns {
		said := true // by a text, or there is one of its name
		named := slices.ContainsFunc(p.Labels, func(label string) bool { return strings.EqualFold(label, columns[c]) })
		for i, row := range p.Rows {
			said = said && slices.ContainsFunc(row.Entry.Shown.Texts, func(t trade.ShownText) bool {
				return strings.TrimLeft(t.Text, "0") == strings.TrimLeft(parts[i][c], "0")
			})
		}
		if said || named {
			columns[c] = ""
		}
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Texts = trade.Map(p.Labels, row.Entry.Shown.Masked().Get)
		row.Lead = cmp.Or(row.Texts[0], row.Shown)
		for c, name := range columns {
			if name != "" {
				row.Texts = append(row.Texts, parts[i][c])
			}
		}
	}
	for _, name := range columns {
		if name != "" {
			p.Labels = append(p.Labels, name)
		}
	}
	longest := 0
	for _, row := range p.Rows {
		for c, text := range row.Texts {
			if n := utf8.RuneCountInString(text); n > longest {
				p.Wide, longest = c, n
			}
		}
	}
}

func (p *Pages) showRows(q *web.Request) error {
	f, err := readFilter(q.URL.Query(), q.Site.Zone)
	if err != nil {
		return err
	}
	page := rowsPage{
		Filter: f, States: trade.States, Flags: trade.AllFlags, Query: f.values("").Encode(),
		Sorts: trade.Columns,
	}
	if q.Bare() == "names" {
		err := p.names(q, f, &page)
		return q.Show("rows", page, err)
	}
	f.Limit, f.Masked = pageRows, !q.May(trade.Accountant)
	var chosen reconcile.Selected
	f.RowQuery, chosen, err = p.office.Chosen(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	found, err := p.office.RowPage(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	for _, e := range found.Rows {
		line := rowLine{
			Entry: e, Shown: q.Voice().SpacedKey(e.Key), Reason: p.reasonOf(q, e, veil{}), Listing: e.Listing(),
		}
		if e.State == trade.Invalid && e.Error != nil {
			for _, f := range e.Error.Fields {
				what := f.Advice(q.Lang).What
				if strings.HasSuffix(what, ")") {
					what, _, _ = strings.Cut(what, " (")
				}
				if f.Severity != trade.Warning {
					line.Brief = append(line.Brief, view.Mask(what))
				}
			}
		}
		line.Lead = e.Shown.Masked().Lead(line.Shown)
		line.Sums = line.Listing.Sums()
		// what the row adds to the number whose rows the list has
		if adds, ok := chosen.Each[trade.ParentKey{Job: e.Job, Key: e.Key}]; ok {
			line.Sums = adds
		}
		page.Rows = append(page.Rows, line)
		page.Reasons = page.Reasons || line.Reason != ""
	}
	if f.Job != "" {
		page.spread(p.jobNamed(f.Job))
	}
	// the current sort column links to the reverse order; numbers and days begin with the largest
	page.Columns = map[string]rowColumn{}
	by, down := f.Sort.Column()
	for _, name := range trade.Columns {
		var c rowColumn
		to := f
		to.Sort = name
		if slices.Contains([]trade.RowSort{trade.ByDay, trade.ByVolume, trade.ByValue, trade.ByChanged}, name) {
			to.Sort = "-" + name
		}
		switch {
		case by == name && down:
			c.Sorted, to.Sort = "descending", name
		case by == name:
			c.Sorted, to.Sort = "ascending", "-"+name
		}
		c.Path = "/rows?" + to.values("").Encode()
		page.Columns[string(name)] = c
	}
	page.Barred = f.Masked && view.Masked(f.Text)
	if found.Next != "" {
		page.Next = "/rows?" + f.values(found.Next).Encode()
	}
	if err := p.count(q, f, &page, chosen); err != nil {
		return err
	}
	if err := p.names(q, f, &page); err != nil {
		return err
	}
	causes, err := p.office.Causes(q.Context(), f.Jobs)
	if err != nil {
		return err
	}
	page.Causes = trade.Map(causes, func(cause string) rowCause {
		return rowCause{cause, view.Mask(p.office.CauseName(cause, q.Lang))}
	})
	page.Chips, page.Filter.RowQuery = p.chips(q, f), f.RowQuery
	if err := p.manyActs(q, &page); err != nil {
		return err
	}
	page.Ran, err = p.orderRan(q, true)
	return q.Show("rows", page, err)
}

// names fills in what the fields of the filter propose: all of them, or the one in which somebody types.
func (p *Pages) names(q *web.Request, f rowFilter, page *rowsPage) error {
	if q.Bare() != "names" {
		page.Names = append(page.Names, rowNames{Name: "state"}, rowNames{"harvest", f.Of.Harvest, p.office.Harvests()})
	}
	for _, of := range []struct {
		column trade.RowSort
		value  string
	}{{trade.ByProduct, f.Facts.Product}, {trade.ByProducer, f.Facts.Producer}, {trade.ByBranch, f.Facts.Branch}} {
		part := ""
		if q.Bare() == "names" { // somebody types
			if q.Header.Get("HX-Target") != "names-"+string(of.column) {
				continue
			}
			part = of.value
		}
		names, _, err := p.office.RowNames(q.Context(), of.column, f.Jobs, part, namesShown)
		if err != nil {
			return err
		}
		if len(names) > 0 || of.value != "" {
			// a masked name is none that a row has
			names = slices.DeleteFunc(names, view.Masked)
			page.Names = append(page.Names, rowNames{string(of.column), of.value, names})
		}
	}
	return nil
}

// count fills in how many rows each tab has, and how much those of the filter carry, unless they are very many.
func (p *Pages) count(q *web.Request, f rowFilter, page *rowsPage, chosen reconcile.Selected) error {
	every := f.RowQuery
	every.Jobs = nil
	sums, err := p.office.SumsOf(q.Context(), every, chosen, q.URL.Query().Has("sum"))
	tabs := sums
	if sums == nil && f.Job != "" && err == nil {
		sums, err = p.office.RowSums(q.Context(), f.RowQuery, false)
	}
	if err != nil {
		return err
	}
	if tabs == nil { // to add up all of them takes a moment: the page asks for it
		page.Add = "/rows?sum=1&" + f.values("").Encode()
	}
	if tabs != nil {
		total, _ := totalsOf(tabs)
		tabs[""] = trade.Sums{Rows: total}
	}
	jobs := trade.Map(p.office.Jobs(), func(job office.Job) string { return job.Name })
	for _, job := range append([]string{""}, jobs...) {
		to := f
		to.Job = job
		tab := rowTab{Job: job, Path: "/rows?" + to.values("").Encode(), Here: f.Job == job}
		if tabs != nil {
			tab.Rows = new(tabs[job].Rows)
		}
		page.Tabs = append(page.Tabs, tab)
	}
	for _, job := range jobs {
		if sums[job].Rows > 0 && (f.Job == "" || f.Job == job) {
			page.Totals = append(page.Totals, rowTotal{job, sums[job]})
		}
	}
	return nil
}

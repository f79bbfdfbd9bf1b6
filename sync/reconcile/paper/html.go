// A report as one HTML page for reading and printing.

package paper

import (
	"bufio"
	"cmp"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// page writes a page for reading and printing: one file, without scripts and external resources.
type page struct {
	to   *bufio.Writer
	h    reconcile.Heading
	s    Section
	open bool
	rows int
}

// NewHTML returns a writer of a report as a page for printing.
func NewHTML(to io.Writer) reconcile.Writer { return For(&page{to: bufio.NewWriter(to)}) }

const pageStyle = `body{font:13px/1.4 system-ui,"Segoe UI",Arial,sans-serif;color:#1b1b1b;background:#fff;margin:1.5rem}
h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:1.6rem 0 .3rem}p{margin:.2rem 0}.note,small{color:#444}
table{border-collapse:collapse;margin-top:.5rem;width:100%}small{display:block;font-size:.85em;overflow-wrap:anywhere}
th,td{border-bottom:1px solid #bbb;padding:.25rem .4rem;vertical-align:top;text-align:left}
th{background:#e6eee2;border-bottom:1px solid #777}td.number,th.number{text-align:right}
td.number{font-variant-numeric:tabular-nums;white-space:nowrap}
td.day{white-space:nowrap}td.number small{white-space:normal}
td.code{font-family:ui-monospace,Consolas,monospace;font-size:.92em;overflow-wrap:anywhere}
#cover{font-size:.9em}#cover td{white-space:nowrap}
#sign td{border:0;padding-top:5em}#sign small{border-top:1px solid #1b1b1b}
tr.total>*,tr.proof>*{font-weight:bold}
tr.summand>.lead,tr.part>.lead{padding-left:1.2rem}tr.of_which>.lead,tr.outside>.lead{padding-left:2.2rem;color:#444}
@media screen and (max-width:48rem){thead{display:none}
tr{display:block;border:1px solid #bbb;border-radius:.5rem;margin:.5rem 0}
td{display:flex;justify-content:space-between;gap:1rem;border-bottom:0}td:before{content:attr(data-label);color:#444}}
@media print{body{margin:0;font-size:7.5pt}td:not(.number) small{display:inline}
td:not(.number) small:before{content:" · "}th,td{padding:.15rem .3rem}
thead{display:table-header-group}tr{break-inside:avoid}h2{break-after:avoid}
#sign{break-after:page}}
`

// inCSS returns a text without characters that have a meaning in a CSS string.
func inCSS(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`"\<>{}`, r) {
			return -1
		}
		return r
	}, text)
}

// style returns the CSS for A4 landscape pages, with the report's identity and the page number at
// the bottom.
func style(h reconcile.Heading) string {
	foot := h.Title
	if h.Head.ID != "" || h.Head.Closed != nil {
		foot = h.Foot()
	}
	return `@page{size:A4 landscape;margin:12mm 10mm 16mm;@bottom-left{content:"` + inCSS(foot) +
		`";font:7pt sans-serif;font-variant-ligatures:none;color:#444;width:85%}@bottom-right{content:"` + inCSS(i18n.Report.Text(h.Lang, "Page")) +
		` " counter(page) " / " counter(pages);font:7pt sans-serif;color:#444}}` + "\n"
}

// put writes markup, in which each %s stands for one of the texts.
func (w *page) put(markup string, texts ...string) {
	for _, text := range texts {
		before, after, _ := strings.Cut(markup, "%s")
		_, _ = w.to.WriteString(before) // the Flush returns a write error
		_, _ = w.to.WriteString(trade.Visible(template.HTMLEscapeString(text)))
		markup = after
	}
	_, _ = w.to.WriteString(trade.Visible(markup))
}

func (w *page) Begin(h reconcile.Heading) error {
	w.h = h
	w.put("<!doctype html>\n<html lang=\""+string(h.Lang)+
		"\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>%s</title>\n<style>\n", h.Title)
	w.put(pageStyle + style(h))
	w.put("</style>\n</head>\n<body>\n<h1>%s</h1>\n", h.Title)
	for _, line := range h.Lines {
		w.put("<p>%s</p>\n", line)
	}
	if len(h.Cover) == 0 {
		return nil
	}
	type step struct {
		title string
		of    func(reconcile.Account) trade.Decimal
	}
	steps := []step{{w.word("account.erp"), reconcile.Account.ERP}}
	for _, state := range reconcile.UnsentStates {
		name, _, _ := strings.Cut(state.Label(h.Lang), " (")
		steps = append(steps, step{name, func(a reconcile.Account) trade.Decimal { return a.Of(state).Neg() }})
	}
	steps = append(steps,
		step{w.word("changed after sending"), func(a reconcile.Account) trade.Decimal { return a.Changed.Amount }},
		step{w.word("only on the platform"), func(a reconcile.Account) trade.Decimal { return a.Left.Amount }},
		step{w.word("account.renumbered"), func(a reconcile.Account) trade.Decimal { return a.Renumbered.Amount }},
		step{w.word("account.sent"), func(a reconcile.Account) trade.Decimal { return a.Sent }},
		step{w.word("column.difference"), func(a reconcile.Account) trade.Decimal { return a.ERP().Sub(a.Sent) }})
	accounts := slices.DeleteFunc(slices.Clone(h.Cover), reconcile.Account.Empty)
	steps = slices.DeleteFunc(steps, func(s step) bool {
		return !slices.ContainsFunc(accounts, func(a reconcile.Account) bool { return s.of(a).Sign() != 0 })
	})
	cover := Section{ID: "cover", Title: w.word("From the ERP to the platform, by product"), Note: w.word("paper.cover")}
	cover.Columns = []Column{{Title: w.word("product")}, {Title: w.word("measure")}}
	for _, s := range steps {
		cover.Columns = append(cover.Columns, Column{Title: s.title, Type: reconcile.NumberColumn})
	}
	if err := w.Section(cover); err != nil {
		return err
	}
	none := w.word("no product")
	for _, a := range accounts {
		a = a.Rounded()
		for _, unit := range unitsOf(a) {
			measure := w.word("account.measure."+string(a.Measure)) + " (" + unit + ")"
			row := Line{Cells: []Cell{{Text: cmp.Or(a.Product, none)}, {Text: measure}}}
			for _, s := range steps {
				row.Cells = append(row.Cells, Cell{Text: w.amount(s.of(a), unit)})
			}
			if err := w.Row(row); err != nil {
				return err
			}
		}
	}
	w.close()
	if c := h.Head.Closed; c != nil {
		w.put("<table id=\"sign\"><tbody><tr><td>%s<small>%s</small></td><td><small>%s</small></td>"+
			"<td><small>%s</small></td></tr></tbody></table>\n", c.Who, w.word("Closed by"), w.word("Accounting"),
			w.word("Management"))
	}
	return nil
}

func (w *page) word(key i18n.Key) string { return i18n.Report.Text(w.h.Lang, key) }

// unitsOf returns the units in which people read an account: tonnes and sacas, or its currency.
func unitsOf(a reconcile.Account) []string {
	if a.Measure == reconcile.Worth {
		return []string{trade.Symbol(a.Currency)}
	}
	return []string{"t", "sc"}
}

// amount returns an amount in a unit, with all the digits that people read.
func (w *page) amount(amount trade.Decimal, unit string) string {
	text := amount.Fixed(cents)
	switch {
	case amount.Sign() == 0:
		return "–"
	case unit == "t":
		text = amount.Tonnes().Fixed(kilogram)
	case unit == "sc":
		sacas, _ := amount.Sacas(cents)
		text = sacas.Fixed(cents)
	}
	return trade.NumberText(text, w.h.Lang)
}

func (w *page) Section(s Section) error {
	w.close()
	w.s, w.open, w.rows = s, true, 0
	w.put("<section id=\""+string(s.ID)+"\">\n<h2>%s</h2>\n", s.Title)
	if s.Note != "" {
		w.put("<p class=\"note\">%s</p>\n", s.Note)
	}
	return nil
}

func (w *page) Row(r Line) error {
	if w.rows == 0 {
		w.put("<table>\n<thead><tr>")
		for _, c := range w.s.Columns {
			w.put(`<th scope="col" class="`+c.Class()+`">%s</th>`, c.Title)
		}
		w.put("</tr></thead>\n<tbody>\n")
	}
	w.rows++
	w.put(`<tr class="` + r.Role + `">`)
	for i, cell := range r.Cells {
		c := w.s.Columns[i]
		class := c.Class()
		if c.Lead {
			class += " lead"
		}
		w.put(`<td class="`+strings.TrimSpace(class)+`" data-label="%s"><span>`, c.Title)
		if at := w.h.Find(w.s.ID, r.Key); at != "" && (c.Lead || c.ID == "key") {
			w.put(`<a href="%s">%s</a>`, at, cell.Text)
		} else {
			w.put("%s", cell.Text)
		}
		for _, text := range cell.Beneath {
			w.put("<small>%s</small>", text)
		}
		w.put("</span></td>")
	}
	w.put("</tr>\n")
	return nil
}

func (w *page) close() {
	switch {
	case !w.open:
		return
	case w.rows == 0:
		w.put("<p>" + w.word("Nothing.") + "</p>\n")
	default:
		w.put("</tbody>\n</table>\n")
	}
	w.put("</section>\n")
	w.open = false
}

func (w *page) End() error {
	w.close()
	w.put("</body>\n</html>\n")
	if err := w.to.Flush(); err != nil {
		return phrase.Errorf("write the page: %w", err)
	}
	return nil
}

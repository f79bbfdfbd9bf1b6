// A report as one HTML page for reading and printing.

package paper

import (
	"bufio"
	"cmp"
	"html/template"
	"io"
	"slices"
	"strconv"
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
#sign td{border:0;padding-top:5em}#sign small{border-top:1px solid #1b1b1b}
tr.total>*,tr.proof>*{font-weight:bold}
tr.summand>.lead,tr.part>.lead{padding-left:1.2rem}tr.of_which>.lead,tr.outside>.lead{padding-left:2.2rem;color:#444}
@media screen and (max-width:48rem){thead{display:none}
tr{display:block;border:1px solid #bbb;border-radius:.5rem;margin:.5rem 0}
td{display:flex;justify-content:space-between;gap:1rem;border-bottom:0}td:before{content:attr(data-label);color:#444}}
@media print{body{margin:0;font-size:7.5pt}td:not(.number) small{display:inline}
td:not(.number) small:before{content:" · "}th,td{padding:.15rem .3rem}
thead{display:table-header-group}tr{break-inside:avoid}h2{break-after:avoid}
#open{break-after:page}#sign{break-inside:avoid}}
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

// Style returns the CSS for A4 landscape pages, with the report's identity and the page number at
// the bottom.
func Style(h reconcile.Heading) string {
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
	w.put(pageStyle + Style(h))
	w.put("</style>\n</head>\n<body>\n<h1>%s</h1>\n", h.Title)
	for _, line := range h.Lines {
		w.put("<p>%s</p>\n", line)
	}
	if len(h.Cover) > 0 {
		w.table("cover", "From the ERP to the platform, by product", "In tonnes and sacas, and in money where it says so: ERP + what did not go (with a minus sign) + what has changed since + what is only on the platform + what was renumbered = platform.", []i18n.Key{"product", "measure"},
			[]i18n.Key{
				"account.erp", "not on the platform", "changed after sending", "only on the platform",
				"account.renumbered",
				"account.sent",
			})
		for _, a := range w.h.Cover {
			missing := trade.Decimal{}
			for _, l := range a.States {
				if l.State != trade.Accepted {
					missing = missing.Sub(l.Amount)
				}
			}
			for _, unit := range unitsOf(a) {
				w.cells([]string{cmp.Or(a.Product, w.word("no product")), w.measure(a, unit)},
					w.amount(a.ERP(), unit), w.amount(missing, unit), w.amount(a.Changed.Amount, unit),
					w.amount(a.Left.Amount, unit), w.amount(a.Renumbered.Amount, unit), w.amount(a.Sent, unit))
			}
		}
		w.put("</tbody>\n</table>\n</section>\n")
		w.table("open", "Open", "", []i18n.Key{"product", "measure", "state"},
			[]i18n.Key{"rows", "amount"})
		for _, a := range w.h.Cover {
			for _, l := range a.States {
				if l.State != trade.Accepted && l.Rows > 0 {
					unit := unitsOf(a)[0]
					state := cmp.Or(w.word("state."+string(l.State)), string(l.State))
					w.cells([]string{cmp.Or(a.Product, w.word("no product")), w.measure(a, unit), state},
						trade.NumberText(strconv.Itoa(l.Rows), w.h.Lang), w.amount(l.Amount, unit))
				}
			}
		}
		w.put("</tbody>\n</table>\n</section>\n")
	}
	return nil
}

func (w *page) word(key i18n.Key) string { return i18n.Report.Text(w.h.Lang, key) }

// table begins a table of the cover, with columns of text and then columns of numbers.
func (w *page) table(id string, title, note i18n.Key, texts, numbers []i18n.Key) {
	w.put("<section id=\""+id+"\"><h2>%s</h2>\n", w.word(title))
	if note != "" {
		w.put("<p class=\"note\">%s</p>\n", w.word(note))
	}
	w.put("<table>\n<thead><tr>")
	for i, key := range slices.Concat(texts, numbers) {
		class := ""
		if i >= len(texts) {
			class = "number"
		}
		w.put(`<th scope="col" class="`+class+`">%s</th>`, w.word(key))
	}
	w.put("</tr></thead>\n<tbody>\n")
}

func (w *page) cells(texts []string, numbers ...string) {
	w.put("<tr>")
	for _, text := range texts {
		w.put("<td>%s</td>", text)
	}
	for _, text := range numbers {
		w.put(`<td class="number">%s</td>`, text)
	}
	w.put("</tr>\n")
}

// unitsOf returns the units in which people read an account: tonnes and sacas, or its currency.
func unitsOf(a reconcile.Account) []string {
	if a.Measure == reconcile.Worth {
		return []string{cmp.Or(signs[a.Currency], a.Currency)}
	}
	return []string{"t", "sc"}
}

func (w *page) measure(a reconcile.Account, unit string) string {
	return w.word("account.measure."+string(a.Measure)) + " (" + unit + ")"
}

func (w *page) amount(amount trade.Decimal, unit string) string {
	switch unit {
	case "t":
		return trade.NumberText(amount.Tonnes().String(), w.h.Lang)
	case "sc":
		sacas, _ := amount.Sacas(cents)
		return trade.NumberText(sacas.String(), w.h.Lang)
	}
	return trade.MoneyText(amount.Round(cents), w.h.Lang)
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
	if len(w.h.Cover) > 0 {
		w.put("<table id=\"sign\"><tbody><tr>")
		for i, key := range []i18n.Key{"Closed by", "Accounting", "Management"} {
			name := ""
			if c := w.h.Head.Closed; i == 0 && c != nil {
				name = c.Who
			}
			w.put("<td>%s<small>%s</small></td>", name, w.word(key))
		}
		w.put("</tr></tbody></table>\n")
	}
	w.put("</body>\n</html>\n")
	if err := w.to.Flush(); err != nil {
		return phrase.Errorf("write the page: %w", err)
	}
	return nil
}

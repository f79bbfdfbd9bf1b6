// A report as a page for printing.

package reconcile

import (
	"bufio"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// htmlWriter writes a page for reading and printing: one file, no script, nothing from outside.
type htmlWriter struct {
	to   *bufio.Writer
	h    Heading
	s    Section
	open bool
	rows int
}

// NewHTML writes a report as a page for printing.
func NewHTML(to io.Writer) Writer { return &htmlWriter{to: bufio.NewWriter(to)} }

const htmlStyle = `body{font:13px/1.4 system-ui,"Segoe UI",Arial,sans-serif;color:#1b1b1b;background:#fff;margin:1.5rem}
h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:1.6rem 0 .3rem}p{margin:.2rem 0}.note{color:#444}
.scroll{overflow-x:auto}table{border-collapse:collapse;margin-top:.5rem}
	th,td{border:1px solid #999;padding:.2rem .4rem;vertical-align:top;text-align:left}
th{background:#e6eee2}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
	td.c{font-family:ui-monospace,Consolas,monospace;font-size:.92em}#sign td{height:4em;min-width:16em}
@media print{@page{size:A4 landscape;margin:10mm}body{margin:0;font-size:8pt}.scroll{overflow:visible}thead{display:table-header-group}tr{break-inside:avoid}h2{break-after:avoid}}`

func (w *htmlWriter) put(text string) { _, _ = w.to.WriteString(text) } // what cannot be written is told by the flush

func (w *htmlWriter) Begin(h Heading) error {
	w.h = h
	w.put("<!doctype html>\n<html lang=\"" + string(h.Lang) +
		"\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>" +
		template.HTMLEscapeString(h.Title) + "</title>\n<style>\n" + htmlStyle + "\n</style>\n</head>\n<body>\n<h1>" +
		template.HTMLEscapeString(h.Title) + "</h1>\n")
	for _, line := range h.Lines {
		w.put("<p>" + template.HTMLEscapeString(line) + "</p>\n")
	}
	return nil
}

func (w *htmlWriter) Section(s Section) error {
	w.close()
	w.s, w.open, w.rows = s, true, 0
	w.put("<section id=\"" + string(s.ID) + "\">\n<h2>" + template.HTMLEscapeString(s.Title) + "</h2>\n")
	if s.Note != "" {
		w.put("<p class=\"note\">" + template.HTMLEscapeString(s.Note) + "</p>\n")
	}
	return nil
}

func (w *htmlWriter) head() {
	w.put("<div class=\"scroll\"><table>\n<thead><tr>")
	for _, c := range w.s.Columns {
		w.put("<th scope=\"col\">" + template.HTMLEscapeString(c.Title) + "</th>")
	}
	w.put("</tr></thead>\n<tbody>\n")
}

func (w *htmlWriter) Row(cells []any) error {
	if w.rows == 0 {
		w.head()
	}
	w.rows++
	w.put("<tr>")
	for i, cell := range cells {
		switch w.s.Columns[i].Type {
		case CountColumn, NumberColumn, MoneyColumn:
			w.put(`<td class="n">`)
		case CodeColumn:
			w.put(`<td class="c">`)
		default:
			w.put("<td>")
		}
		w.put(template.HTMLEscapeString(w.s.Columns[i].Text(cell, w.h.Lang, w.h.Zone)) + "</td>")
	}
	w.put("</tr>\n")
	return nil
}

func (w *htmlWriter) close() {
	switch {
	case !w.open:
		return
	case w.rows == 0:
		w.put("<p>" + sentence("nothing", w.h.Lang) + "</p>\n")
	default:
		w.put("</tbody>\n</table></div>\n")
	}
	w.put("</section>\n")
	w.open = false
}

func (w *htmlWriter) End() error {
	w.close()
	w.put("</body>\n</html>\n")
	if err := w.to.Flush(); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// Text gives a cell of the column as people of a language read it.
func (c Column) Text(cell any, lang trade.Lang, zone *time.Location) string {
	if d, ok := cell.(trade.Decimal); ok && c.Type == MoneyColumn {
		return trade.MoneyText(d, lang)
	}
	return PlainText(cell, lang, zone)
}

// PlainText gives a cell as people of a language read it.
func PlainText(cell any, lang trade.Lang, zone *time.Location) string {
	switch c := cell.(type) {
	case int:
		return trade.NumberText(strconv.Itoa(c), lang)
	case trade.Decimal:
		return trade.NumberText(c.String(), lang)
	case Day:
		return dayText(string(c), lang)
	case time.Time:
		return momentText(c, zone, lang)
	}
	text, _ := textOf(cell)
	return text
}

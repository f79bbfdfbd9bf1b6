// A report as PDF/A, to be kept and signed.

package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/pdf"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// pdfRows is how many rows of a section a PDF has at most; files for spreadsheets have all.
const pdfRows = 2000

// singles are the sections of single rows, of which a PDF has those that are open.
var singles = []reconcile.SectionID{
	reconcile.ContractsSection, reconcile.DeliveriesSection, reconcile.TraceabilitySection,
}

// open reports whether a row stands in a PDF: of single rows only those about which something remains to be
// done.
func open(section reconcile.SectionID, row Line) bool {
	return !slices.Contains(singles, section) || !slices.Contains(reconcile.Settled, trade.State(row.Names["state"]))
}

// PDF returns a report as PDF/A: the bridge of each product on the first page, then the sums, what is
// open, and lines to sign on. signer may be nil. at is the time of the file.
func PDF(s *reconcile.Snapshot, o reconcile.Options, signer *pdf.Signer, program string, at time.Time) ([]byte, error) {
	r := &Report{most: pdfRows, keep: open}
	if len(o.By) == 0 { // by producer only in other files
		o.By = []reconcile.By{reconcile.ByAll, reconcile.BySeason, reconcile.ByPlace}
	}
	if err := r.read(s, o); err != nil {
		return nil, err
	}
	w := &sheet{h: r.Heading}
	w.d = pdf.New(w.info(program, at), pageWidth, pageHeight)
	w.newPage()
	w.begin()
	w.bridge(r.Accounts)
	w.falls(r.Accounts)
	for _, t := range r.Sections {
		w.table(t)
	}
	w.signatures()
	w.feet()
	return w.d.Bytes(signer)
}

// Identifier returns how a file names the report that it is a copy of.
func Identifier(h reconcile.Head) string {
	if h.Closed != nil {
		return "safrasync:closing:" + h.Closed.ID + ":" + h.Closed.Hash
	}
	return "safrasync:report:" + h.ID
}

// Lengths on A4 landscape, in points.
const (
	pageWidth, pageHeight = 842.0, 595.0
	left, right           = 34.0, pageWidth - 34
	top, bottom           = 34.0, pageHeight - 44
	pad                   = 3.0
	leading               = 1.25 // of the size
)

var (
	titleStyle = pdf.Style{Size: 15, Bold: true}
	headStyle  = pdf.Style{Size: 11, Bold: true}
	noteStyle  = pdf.Style{Size: 7.5, Gray: 0.3}
	cellStyle  = pdf.Style{Size: 7.5}
	boldStyle  = pdf.Style{Size: 7.5, Bold: true}
	smallStyle = pdf.Style{Size: 6.5, Gray: 0.3}
)

// sheet writes from the top of a page to its bottom.
type sheet struct {
	d    *pdf.Document
	h    reconcile.Heading
	page int
	y    pdf.Points
}

func (w *sheet) word(key i18n.Key) string { return i18n.Report.Text(w.h.Lang, key) }

func (w *sheet) info(program string, at time.Time) pdf.Info {
	out := pdf.Info{
		Title: w.h.Title, Author: "safrasync", Subject: w.foot(), Producer: "safrasync " + program,
		Identifier: Identifier(w.h.Head), Lang: string(w.h.Lang), Created: at,
	}
	if w.h.Head.Closed != nil {
		out.Author = w.h.Head.Closed.Who
	}
	return out
}

// foot returns what stands at the foot of each page.
func (w *sheet) foot() string { return trade.Visible(w.h.Foot()) }

func (w *sheet) newPage() {
	w.d.Page()
	w.page, w.y = w.d.Pages()-1, top
}

// room begins a new page if so much does not fit.
func (w *sheet) room(height pdf.Points) bool {
	if w.y+height <= bottom {
		return false
	}
	w.newPage()
	return true
}

// paragraph writes a text over the whole width.
func (w *sheet) paragraph(text string, s pdf.Style) {
	for _, line := range w.wrapped(text, s, right-left) {
		w.room(s.Size * leading)
		w.d.Text(w.page, left, w.y+s.Size, s, line)
		w.y += s.Size * leading
	}
}

// wrapped breaks a text into lines; a word that is wider than a line is broken too.
func (w *sheet) wrapped(text string, s pdf.Style, width pdf.Points) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(trade.Visible(text)) {
		if joined := strings.TrimSpace(line + " " + word); w.d.Width(joined, s) <= width {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
		for _, r := range word {
			if line != "" && w.d.Width(line+string(r), s) > width {
				lines = append(lines, line)
				line = ""
			}
			line += string(r)
		}
	}
	return append(lines, line)
}

func (w *sheet) begin() {
	w.paragraph(w.h.Title, titleStyle)
	for _, line := range w.h.Lines {
		w.paragraph(line, noteStyle)
	}
	if w.h.Head.Closed != nil { // else a line has it
		w.paragraph(w.foot(), noteStyle)
	}
	w.y += 6
}

// bridge writes the way of each product from the ERP to the platform, one line for each measure; the
// last column is zero.
func (w *sheet) bridge(accounts []reconcile.Account) {
	t := Table{Section: Section{Title: w.word("paper.bridge"), Note: w.word("paper.bridge.note")}}
	for _, key := range []i18n.Key{"paper.product", "paper.measure"} {
		t.Columns = append(t.Columns, Column{Title: w.word(key)})
	}
	for _, key := range append(slices.Clone(wayKeys), "account.proof") {
		t.Columns = append(t.Columns, Column{Title: w.word(key), Type: reconcile.NumberColumn})
	}
	for _, a := range accounts {
		row := Line{Cells: []Cell{{Text: cmp.Or(a.Product, w.word("paper.no_product"))}, {Text: w.measure(a)}}}
		for _, amount := range append(way(a), a.Proof().Add(a.SentProof())) {
			row.Cells = append(row.Cells, Cell{Text: w.amount(a, amount)})
		}
		t.Rows = append(t.Rows, row)
	}
	w.table(t)
}

// wayKeys name what an account leads along: a total, what is added to it, and a total.
var wayKeys = []i18n.Key{"account.erp", "paper.not_there", "paper.changed", "paper.left", "account.sent"}

// way returns the amounts that wayKeys name.
func way(a reconcile.Account) []trade.Decimal {
	missing := trade.Decimal{}
	for _, l := range a.States {
		if l.State != trade.Accepted {
			missing = missing.Sub(l.Amount)
		}
	}
	return []trade.Decimal{a.ERP(), missing, a.Changed.Amount, a.Left.Amount, a.Sent}
}

// measure names what an account sums up.
func (w *sheet) measure(a reconcile.Account) string {
	measure := w.word(i18n.Key("account.measure." + string(a.Measure)))
	if currency := cmp.Or(signs[a.Currency], a.Currency); currency != "" {
		measure += " (" + currency + ")"
	}
	return measure
}

func (w *sheet) amount(a reconcile.Account, amount trade.Decimal) string {
	if a.Measure == reconcile.Worth {
		return trade.MoneyText(amount.Round(cents), w.h.Lang)
	}
	return trade.NumberText(amount.String(), w.h.Lang)
}

// Lengths of a waterfall, in points.
const (
	fallHigh  = 60.0 // of its tallest bar
	fallRoom  = fallHigh + 50
	fallsOver = 2 // beside each other
	fallGap   = 18.0
	fallWide  = (right - left - (fallsOver-1)*fallGap) / fallsOver
)

// falls draws the way of each account as a waterfall, where there is something to draw.
func (w *sheet) falls(accounts []reconcile.Account) {
	drawn := slices.DeleteFunc(slices.Clone(accounts), func(a reconcile.Account) bool {
		return a.ERP().Sign() == 0 && a.Sent.Sign() == 0
	})
	for row := range slices.Chunk(drawn, fallsOver) {
		w.room(fallRoom)
		for i, a := range row {
			w.fall(a, left+pdf.Points(i)*(fallWide+fallGap))
		}
		w.y += fallRoom
	}
}

// fall draws one waterfall: the amount stands above each bar, and its name below.
func (w *sheet) fall(a reconcile.Account, x pdf.Points) {
	steps := make([]picture.Step, len(wayKeys))
	for i, amount := range way(a) {
		steps[i].Total = i == 0 || i == len(steps)-1
		steps[i].Mark = picture.Mark{Name: w.word(wayKeys[i]), Said: w.amount(a, amount), Amount: amount}
	}
	title := cmp.Or(a.Product, w.word("paper.no_product")) + " · " + w.measure(a)
	w.d.Text(w.page, x, w.y+16, boldStyle, w.wrapped(title, boldStyle, fallWide)[0])
	ground := w.y + 28 + fallHigh
	for i, b := range picture.Falling("", func(trade.Decimal) string { return "" }, steps...).Bars {
		gray := 0.7
		if steps[i].Total {
			gray = 0.35
		}
		place := fallWide / pdf.Points(len(steps))
		middle := x + (pdf.Points(i)+0.5)*place
		high := pdf.Points(b.Height) * fallHigh / picture.High
		y := ground - fallHigh + pdf.Points(b.Y)*fallHigh/picture.High
		w.d.Area(w.page, middle-place/3, y, place*2/3, high, gray)
		w.d.Text(w.page, middle-w.d.Width(b.Said, smallStyle)/2, y-2, smallStyle, b.Said)
		for line, text := range w.wrapped(b.Name, smallStyle, place-pad) {
			at := ground + pdf.Points(line+1)*smallStyle.Size*leading
			w.d.Text(w.page, middle-w.d.Width(text, smallStyle)/2, at, smallStyle, text)
		}
	}
	w.d.Area(w.page, x, ground, fallWide, 0.4, 0.5)
}

// widths shares the width of the page among columns, by what they have to show.
func (w *sheet) widths(t Table) []pdf.Points {
	wants, least := make([]pdf.Points, len(t.Columns)), make([]pdf.Points, len(t.Columns))
	want := func(i int, text string, s pdf.Style) {
		wants[i] = max(wants[i], min(w.d.Width(text, s), 220))
		for _, word := range strings.Fields(text) {
			least[i] = max(least[i], min(w.d.Width(word, s), 90))
		}
	}
	for i, c := range t.Columns {
		want(i, c.Title, boldStyle)
	}
	for _, r := range t.Rows {
		for i, cell := range r.Cells {
			want(i, cell.Text, boldStyle)
			if t.Columns[i].Class() == "number" { // a number is not broken
				least[i] = max(least[i], w.d.Width(cell.Text, boldStyle)+1, w.d.Width(cell.Text, cellStyle)+1)
			}
			for _, text := range cell.Beneath {
				want(i, text, smallStyle)
			}
		}
	}
	free, wish := right-left-2*pad*pdf.Points(len(wants)), 0.0
	for i := range wants {
		wants[i] = max(wants[i], least[i])
		free -= least[i]
		wish += wants[i] - least[i]
	}
	out := make([]pdf.Points, len(wants))
	for i := range wants {
		out[i] = least[i] + 2*pad
		if free > 0 && wish > 0 {
			out[i] += (wants[i] - least[i]) * free / wish
		} else if free > 0 {
			out[i] += free / pdf.Points(len(wants))
		}
	}
	return out
}

// table writes a section. Its head stands again on each page.
func (w *sheet) table(t Table) {
	w.room(80) // a title does not stand alone
	w.y += 8
	w.paragraph(t.Title, headStyle)
	if t.Note != "" {
		w.paragraph(t.Note, noteStyle)
	}
	if slices.Contains(singles, t.ID) {
		w.paragraph(w.word("paper.open_only"), noteStyle)
	}
	w.y += 2
	if len(t.Rows) == 0 {
		w.paragraph(w.word("nothing"), cellStyle)
		return
	}
	widths := w.widths(t)
	head := Line{Role: "head"}
	for _, c := range t.Columns {
		head.Cells = append(head.Cells, Cell{Text: c.Title})
	}
	w.row(t, widths, head)
	for _, r := range t.Rows {
		if w.room(w.height(widths, r)) {
			w.row(t, widths, head)
		}
		w.row(t, widths, r)
	}
	if t.More > 0 {
		w.paragraph(fmt.Sprintf(w.word("paper.more"), t.More), noteStyle)
	}
}

func styleOf(r Line) pdf.Style {
	if r.Role == "head" || r.Role == "total" || r.Role == "proof" {
		return boldStyle
	}
	return cellStyle
}

// height returns how high a row is.
func (w *sheet) height(widths []pdf.Points, r Line) pdf.Points {
	most := 0.0
	for i, cell := range r.Cells {
		s := styleOf(r)
		high := pdf.Points(len(w.wrapped(cell.Text, s, widths[i]-2*pad))) * s.Size * leading
		for _, text := range cell.Beneath {
			high += pdf.Points(len(w.wrapped(text, smallStyle, widths[i]-2*pad))) * smallStyle.Size * leading
		}
		most = max(most, high)
	}
	return most + pad
}

// row writes a row at the present place, which must have the room.
func (w *sheet) row(t Table, widths []pdf.Points, r Line) {
	height := w.height(widths, r)
	if r.Role == "head" {
		w.d.Area(w.page, left, w.y, right-left, height, 0.9)
	}
	x := left
	for i, cell := range r.Cells {
		y := w.y
		put := func(text string, s pdf.Style) {
			for _, line := range w.wrapped(text, s, widths[i]-2*pad) {
				at := x + pad
				switch {
				case t.Columns[i].Class() == "number":
					at = x + widths[i] - pad - w.d.Width(line, s)
				case t.Columns[i].Lead && (r.Role == "part" || r.Role == "summand"):
					at += 6
				case t.Columns[i].Lead && (r.Role == "outside" || r.Role == "of_which"):
					at += 12
				}
				w.d.Text(w.page, at, y+s.Size, s, line)
				y += s.Size * leading
			}
		}
		put(cell.Text, styleOf(r))
		for _, text := range cell.Beneath {
			put(text, smallStyle)
		}
		x += widths[i]
	}
	w.y += height
	w.d.Area(w.page, left, w.y-0.5, right-left, 0.4, 0.7)
}

// signatures writes lines to sign on.
func (w *sheet) signatures() {
	w.room(90)
	w.y += 56
	words := []i18n.Key{"paper.sign.closed", "paper.sign.accounting", "paper.sign.board"}
	width := (right - left - 2*24) / pdf.Points(len(words))
	for i, key := range words {
		x := left + pdf.Points(i)*(width+24)
		w.d.Area(w.page, x, w.y, width, 0.6, 0)
		name := ""
		if i == 0 && w.h.Head.Closed != nil {
			name = trade.Visible(w.h.Head.Closed.Who)
		}
		w.d.Text(w.page, x, w.y+10, cellStyle, name)
		w.d.Text(w.page, x, w.y+20, noteStyle, w.word(key))
	}
	w.y += 24
}

// feet writes the identity of the report and its number to each page.
func (w *sheet) feet() {
	for page := range w.d.Pages() {
		y := pageHeight - 24.0
		w.d.Area(page, left, y-9, right-left, 0.4, 0.7)
		w.d.Text(page, left, y, smallStyle, w.foot())
		text := fmt.Sprintf("%s %d/%d", w.word("paper.page"), page+1, w.d.Pages())
		w.d.Text(page, right-w.d.Width(text, smallStyle), y, smallStyle, text)
	}
}

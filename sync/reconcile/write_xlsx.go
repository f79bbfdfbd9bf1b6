// A report as a workbook.

package reconcile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// xlsxWriter writes a workbook with one sheet for each section; rows are written to the file as
// they come. If a section has more rows or bytes than a sheet can hold, it continues on another
// sheet.
type xlsxWriter struct {
	most  int // most rows of a sheet
	file  *workbook.File
	book  *excelize.File
	style map[Type]int
	head  int
	note  int
	link  int
	about Heading
	zone  *time.Location
	foot  string // footer of the printed pages

	section Section
	names   []string // names of the columns: A, B …
	part    int      // sheets of the section so far
	sheets  int      // sheets of the workbook so far
	rows    *workbook.Sheet
	skel    *excelize.StreamWriter // the sheet without its rows, for what excelize must know
	layout  workbook.Layout
	line    int
}

// ErrWorkbook means that a workbook would be larger than Excel can open.
var ErrWorkbook = workbook.ErrTooLarge

// NewXLSX returns a writer of a report as a workbook. The file is complete only after End.
func NewXLSX(to io.Writer) Writer { return newXLSX(to, workbook.SheetRows) }

func newXLSX(to io.Writer, most int) *xlsxWriter {
	return &xlsxWriter{most: most, file: workbook.NewFile(to)}
}

func (w *xlsxWriter) Begin(h Heading) error {
	w.zone, w.book, w.foot, w.about = h.Zone, excelize.NewFile(), h.Foot(), h
	if err := w.styles(); err != nil {
		return err
	}
	title := sentence("sheet", h.Lang)
	if err := w.book.SetSheetName(w.book.GetSheetName(0), title); err != nil {
		return err
	}
	w.sheets = 1
	if err := errors.Join(w.book.SetPageLayout(title, &excelize.PageLayoutOptions{
		Orientation: new("landscape"), Size: new(9), FitToHeight: new(0), // A4
	}), w.book.SetSheetProps(title, &excelize.SheetPropsOptions{FitToPage: new(true)}),
		w.book.SetHeaderFooter(title, &excelize.HeaderFooterOptions{OddFooter: workbook.Footer(w.foot)})); err != nil {
		return err
	}
	rows, err := w.book.NewStreamWriter(title)
	if err != nil {
		return err
	}
	if err := rows.SetColWidth(1, 1, 140); err != nil {
		return err
	}
	err = rows.SetRow("A1", []any{excelize.Cell{StyleID: w.head, Value: h.Title}})
	for i, line := range h.Lines {
		cell := excelize.Cell{StyleID: w.note, Value: trade.Visible(line)}
		err = errors.Join(err, rows.SetRow("A"+strconv.Itoa(i+2), []any{cell}))
	}
	return errors.Join(err, rows.Flush())
}

func (w *xlsxWriter) styles() (err error) {
	w.style = map[Type]int{}
	style := func(s excelize.Style) int {
		id, e := w.book.NewStyle(&s)
		err = errors.Join(err, e)
		return id
	}
	w.head = style(*workbook.Head())
	w.link = style(excelize.Style{NumFmt: 49, Font: &excelize.Font{Color: "1155CC", Underline: "single"}})
	w.note = style(excelize.Style{Alignment: workbook.Wrapped()})
	wrapped := style(excelize.Style{NumFmt: 49, Alignment: workbook.Wrapped()})
	w.style[TextColumn], w.style[CodeColumn] = wrapped, style(excelize.Style{NumFmt: 49})
	w.style[CountColumn] = style(excelize.Style{NumFmt: 3})
	w.style[MoneyColumn] = style(excelize.Style{CustomNumFmt: new("#,##0.00########")})
	w.style[NumberColumn] = style(excelize.Style{CustomNumFmt: new("#,##0.00########")})
	w.style[DayColumn] = style(excelize.Style{CustomNumFmt: new("dd/mm/yyyy")})
	w.style[TimeColumn] = style(excelize.Style{CustomNumFmt: new("dd/mm/yyyy hh:mm:ss")})
	return err
}

func (w *xlsxWriter) Section(s Section) error {
	if err := w.close(); err != nil {
		return err
	}
	w.section, w.part = s, 0
	return w.sheet()
}

// key returns how many of the first columns say what a row is.
func (s Section) key() int {
	for _, id := range []string{"key", "product", "line"} {
		if i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.ID == id }); i >= 0 {
			return i + 1
		}
	}
	return 1
}

// narrow are the widths of columns with short texts, so that more columns fit on a page.
var narrow = map[string]int{
	"job": 14, "branch": 8, "order_type": 18, "product": 10, "harvest": 11, "producer": 11, "place": 10, "wallet": 10,
	"unit": 8, "currency": 8, "state": 16, "flags": 16, "role": 12, "show": 34, "reason": 34,
	"remote_id": 38, "key": 20,
}

// sheet begins the next sheet of the section.
func (w *xlsxWriter) sheet() error {
	w.part++
	name := w.section.Title
	if w.part > 1 {
		name = fmt.Sprintf("%s (%d)", name, w.part)
	}
	if _, err := w.book.NewSheet(name); err != nil {
		return err
	}
	w.sheets++
	var err error
	w.skel, err = w.book.NewStreamWriter(name)
	if err != nil {
		return err
	}
	widths, titles := make([]int, len(w.section.Columns)), make([]any, len(w.section.Columns))
	w.names = make([]string, len(w.section.Columns))
	for i, c := range w.section.Columns {
		widths[i] = map[Type]int{
			TextColumn: 22, CodeColumn: 16, CountColumn: 12, NumberColumn: 18, MoneyColumn: 19,
			DayColumn: 12, TimeColumn: 18,
		}[c.Type]
		if n, ok := narrow[c.ID]; ok {
			widths[i] = n
		}
		column, e := excelize.ColumnNumberToName(i + 1)
		w.names[i], titles[i], err = column, c.Title, errors.Join(err, e)
	}
	w.layout = workbook.Layout{Widths: widths, Key: w.section.key()}
	err = errors.Join(err, w.book.SetDefinedName(w.layout.PrintTitles(name)))
	// excelize numbers its sheets in the order in which they are made.
	w.rows, w.line = w.file.Sheet(fmt.Sprintf("xl/worksheets/sheet%d.xml", w.sheets), w.layout), 1
	w.rows.Begin(1)
	for i, c := range w.section.Columns {
		w.rows.Text(w.names[i], w.head, c.Title)
	}
	// the table takes its column names from the first row
	return errors.Join(err, w.skel.SetRow("A1", titles), w.rows.End())
}

func (w *xlsxWriter) Row(cells []any) error {
	if w.line == w.most || w.rows.Full() {
		if err := errors.Join(w.close(), w.sheet()); err != nil {
			return err
		}
	}
	w.line++
	w.rows.Begin(w.line)
	for i, cell := range cells {
		c, column := w.section.Columns[i], w.names[i]
		if key, _ := cell.(string); c.ID == "key" {
			at := w.about.Find(w.section.ID, key)
			if at != "" && w.rows.Link(column, w.link, trade.Visible(key), at) {
				continue
			}
		}
		// text stays text, whatever it looks like, and is never a formula
		switch value := cell.(type) {
		case int:
			w.rows.Number(column, w.style[CountColumn], strconv.Itoa(value))
		case trade.Decimal:
			if text, ok := workbook.Number(value); ok {
				w.rows.Number(column, w.style[NumberColumn], text)
			} else {
				w.rows.Text(column, w.style[TextColumn], decimalText(value, trade.Portuguese))
			}
		case Day:
			if at, err := time.Parse(time.DateOnly, string(value)); err == nil {
				w.rows.Number(column, w.style[DayColumn], workbook.Time(at))
			}
		case time.Time:
			w.rows.Number(column, w.style[TimeColumn], workbook.Time(workbook.WallClock(value, w.zone)))
		default:
			if text := textOf(cell); text != "" {
				w.rows.Text(column, w.style[c.Type], workbook.Clip(text))
			}
		}
	}
	return w.rows.End()
}

// close ends the current sheet, and makes its rows a table with filters.
func (w *xlsxWriter) close() error {
	if w.rows == nil {
		return nil
	}
	var err error
	if w.line > 1 {
		last, e := excelize.CoordinatesToCellName(len(w.section.Columns), w.line)
		err = errors.Join(e, w.skel.AddTable(&excelize.Table{
			Range: "A1:" + last,
			Name:  fmt.Sprintf("tabela%d", w.sheets), StyleName: "TableStyleLight1", ShowRowStripes: new(false),
		}))
	} else {
		err = w.layout.Filter(w.book, w.skel.Sheet, w.line)
	}
	err = errors.Join(err, w.skel.Flush(), w.rows.Close(w.line > 1, w.foot))
	w.rows = nil
	return err
}

func (w *xlsxWriter) End() error {
	err := w.close()
	if err == nil {
		err = w.file.Finish(w.book)
	}
	return errors.Join(err, w.book.Close())
}

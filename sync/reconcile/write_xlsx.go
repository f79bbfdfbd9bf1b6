// A report as a workbook.

package reconcile

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// xlsxWriter writes a workbook with one sheet for each section; rows go to a temporary
// file as they come. If a section has more rows than a sheet can hold, it continues on another
// sheet.
type xlsxWriter struct {
	most  int // most rows of a sheet
	to    io.Writer
	book  *excelize.File
	style map[Type]int
	head  int
	note  int
	zone  *time.Location
	foot  string // footer of the printed pages

	section Section
	part    int // sheets of the section so far
	sheets  int // sheets of the workbook so far
	rows    *excelize.StreamWriter
	line    int
}

// ErrWorkbook means that a workbook would be larger than Excel can open.
var ErrWorkbook = workbook.ErrTooLarge

// NewXLSX returns a writer of a report as a workbook. The file is complete only after End.
func NewXLSX(to io.Writer) Writer { return newXLSX(to, workbook.SheetRows) }

func newXLSX(to io.Writer, most int) *xlsxWriter {
	return &xlsxWriter{most: most, to: to}
}

func (w *xlsxWriter) Begin(h Heading) error {
	w.zone, w.book, w.foot = h.Zone, excelize.NewFile(), h.Foot()
	if err := w.styles(); err != nil {
		return err
	}
	title := sentence("sheet", h.Lang)
	if err := w.book.SetSheetName(w.book.GetSheetName(0), title); err != nil {
		return err
	}
	w.sheets = 1
	rows, err := w.stream(title)
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

// stream begins the rows of a sheet that prints on A4 landscape, as wide as one page.
func (w *xlsxWriter) stream(sheet string) (*excelize.StreamWriter, error) {
	across, paper, high := "landscape", 9, 0 // A4
	if err := errors.Join(w.book.SetPageLayout(sheet, &excelize.PageLayoutOptions{
		Orientation: &across, Size: &paper, FitToHeight: &high,
	}), w.book.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: new(true)}),
		w.book.SetHeaderFooter(sheet, &excelize.HeaderFooterOptions{OddFooter: workbook.Footer(w.foot)})); err != nil {
		return nil, err
	}
	return w.book.NewStreamWriter(sheet)
}

func (w *xlsxWriter) styles() (err error) {
	w.style = map[Type]int{}
	style := func(s excelize.Style) int {
		id, e := w.book.NewStyle(&s)
		err = errors.Join(err, e)
		return id
	}
	format := func(f string) *string { return &f }
	w.head = style(excelize.Style{
		Font:      &excelize.Font{Bold: true},
		Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8D8"}},
		Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"},
	})
	w.note = style(excelize.Style{Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	w.style[TextColumn], w.style[CodeColumn] = style(excelize.Style{NumFmt: 49}), style(excelize.Style{NumFmt: 49})
	w.style[CountColumn] = style(excelize.Style{NumFmt: 3})
	w.style[MoneyColumn] = style(excelize.Style{CustomNumFmt: format("#,##0.00########")})
	w.style[NumberColumn] = style(excelize.Style{CustomNumFmt: format("#,##0.00########")})
	w.style[DayColumn] = style(excelize.Style{CustomNumFmt: format("dd/mm/yyyy")})
	w.style[TimeColumn] = style(excelize.Style{CustomNumFmt: format("dd/mm/yyyy hh:mm:ss")})
	return err
}

func (w *xlsxWriter) Section(s Section) error {
	if err := w.close(); err != nil {
		return err
	}
	w.section, w.part = s, 0
	return w.sheet()
}

// narrow are the widths of columns with short texts, so that more columns fit on a page.
var narrow = map[string]int{
	"job": 14, "branch": 8, "order_type": 18, "product": 10, "harvest": 11, "producer": 11, "place": 10, "wallet": 10,
	"unit": 8, "currency": 8, "state": 16, "flags": 16, "basis": 12, "role": 12, "show": 34, "reason": 34,
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
	// the first row is repeated on each printed page
	if err := w.book.SetDefinedName(&excelize.DefinedName{
		Name: "_xlnm.Print_Titles", RefersTo: "'" + strings.ReplaceAll(name, "'", "''") + "'!$1:$1", Scope: name,
	}); err != nil {
		return err
	}
	var err error
	if w.rows, err = w.stream(name); err != nil {
		return err
	}
	w.line = 1
	titles := make([]any, len(w.section.Columns))
	for i, c := range w.section.Columns {
		width, ok := narrow[c.ID]
		if !ok {
			width = map[Type]int{
				TextColumn: 22, CodeColumn: 16, CountColumn: 12, NumberColumn: 14, MoneyColumn: 15,
				DayColumn: 12, TimeColumn: 18,
			}[c.Type]
		}
		titles[i] = excelize.Cell{StyleID: w.head, Value: c.Title}
		err = errors.Join(err, w.rows.SetColWidth(i+1, i+1, workbook.Width(width)))
	}
	// the first row stays visible, and the table takes its column names from it
	return errors.Join(err, w.rows.SetPanes(&excelize.Panes{
		Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft",
	}), w.rows.SetRow("A1", titles))
}

func (w *xlsxWriter) Row(cells []any) error {
	if w.line == w.most {
		if err := errors.Join(w.close(), w.sheet()); err != nil {
			return err
		}
	}
	w.line++
	row := make([]any, len(cells))
	for i, cell := range cells {
		row[i] = w.cell(cell, w.section.Columns[i].Type)
	}
	return w.rows.SetRow("A"+strconv.Itoa(w.line), row)
}

// cell returns a cell with its type, nil for none: text stays text, whatever it looks like, and is
// never a formula.
func (w *xlsxWriter) cell(cell any, typ Type) any {
	switch c := cell.(type) {
	case int:
		return excelize.Cell{StyleID: w.style[CountColumn], Value: c}
	case trade.Decimal:
		if number, ok := workbook.Number(c); ok {
			return excelize.Cell{StyleID: w.style[NumberColumn], Value: number}
		}
		return excelize.Cell{StyleID: w.style[TextColumn], Value: decimalText(c, trade.Portuguese)}
	case Day:
		if at, err := time.Parse(time.DateOnly, string(c)); err == nil {
			return excelize.Cell{StyleID: w.style[DayColumn], Value: workbook.Time(at)}
		}
	case time.Time:
		return excelize.Cell{StyleID: w.style[TimeColumn], Value: workbook.Time(workbook.WallClock(c, w.zone))}
	default:
		if text, _ := textOf(cell); text != "" {
			return excelize.Cell{StyleID: w.style[typ], Value: workbook.Clip(text)}
		}
	}
	return nil
}

// close ends the current sheet, and makes its rows a table with filters.
func (w *xlsxWriter) close() error {
	if w.rows == nil {
		return nil
	}
	var err error
	if w.line > 1 {
		last, e := excelize.CoordinatesToCellName(len(w.section.Columns), w.line)
		stripes := false
		err = errors.Join(e, w.rows.AddTable(&excelize.Table{
			Range: "A1:" + last,
			Name:  fmt.Sprintf("tabela%d", w.sheets), StyleName: "TableStyleLight1", ShowRowStripes: &stripes,
		}))
	}
	err = errors.Join(err, w.rows.Flush())
	w.rows = nil
	return err
}

func (w *xlsxWriter) End() error {
	err := w.close()
	if err == nil {
		err = workbook.Write(w.to, w.book)
	}
	return errors.Join(err, w.book.Close())
}

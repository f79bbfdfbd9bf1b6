package reconcile

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/trade"
)

// sheetRows is how many rows a sheet of Excel holds, the header included.
const sheetRows = 1_048_576

// exactDigits is how many digits a spreadsheet's number keeps; longer ones are written as text.
const exactDigits = 15

// xlsxWriter writes a workbook: one sheet for each section, rows streamed into it. A section of more rows than a sheet holds goes on in a further one.
type xlsxWriter struct {
	to    io.Writer
	most  int // rows of a sheet
	book  *excelize.File
	style map[Type]int
	head  int
	note  int
	zone  *time.Location

	section Section
	part    int // sheets of the section
	sheets  int // of the book
	rows    *excelize.StreamWriter
	line    int
}

// NewXLSX writes a report as a workbook. The file is whole only after End.
func NewXLSX(to io.Writer) Writer { return newXLSX(to, sheetRows) }

func newXLSX(to io.Writer, most int) *xlsxWriter { return &xlsxWriter{to: to, most: most} }

func (w *xlsxWriter) Begin(h Heading) error {
	w.zone, w.book = h.Zone, excelize.NewFile()
	if err := w.styles(); err != nil {
		return err
	}
	title := (phrase{"Relatório", "Report"}).in(h.Lang)
	if err := w.book.SetSheetName(w.book.GetSheetName(0), title); err != nil {
		return err
	}
	w.sheets = 1
	rows, err := w.book.NewStreamWriter(title)
	if err != nil {
		return err
	}
	if err := rows.SetColWidth(1, 1, 140); err != nil {
		return err
	}
	err = rows.SetRow("A1", []any{excelize.Cell{StyleID: w.head, Value: h.Title}})
	for i, line := range h.Lines {
		err = errors.Join(err, rows.SetRow("A"+strconv.Itoa(i+2), []any{excelize.Cell{StyleID: w.note, Value: line}}))
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
	format := func(f string) *string { return &f }
	w.head = style(excelize.Style{Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8D8"}}, Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	w.note = style(excelize.Style{Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	w.style[TextColumn], w.style[CodeColumn] = style(excelize.Style{NumFmt: 49}), style(excelize.Style{NumFmt: 49})
	w.style[CountColumn] = style(excelize.Style{NumFmt: 3})
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
	if w.rows, err = w.book.NewStreamWriter(name); err != nil {
		return err
	}
	err = w.rows.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	head := make([]any, len(w.section.Columns))
	for i, c := range w.section.Columns {
		width := map[Type]int{TextColumn: 24, CodeColumn: 18, CountColumn: 12, NumberColumn: 16, DayColumn: 12, TimeColumn: 20}[c.Type]
		err = errors.Join(err, w.rows.SetColWidth(i+1, i+1, excelWidth(width)))
		head[i] = excelize.Cell{StyleID: w.head, Value: c.Title}
	}
	w.line = 1
	return errors.Join(err, w.rows.SetRow("A1", head))
}

func (w *xlsxWriter) Row(cells []any) error {
	if w.line == w.most {
		if err := errors.Join(w.close(), w.sheet()); err != nil {
			return err
		}
	}
	w.line++
	values := make([]any, len(cells))
	for i, cell := range cells {
		values[i] = w.cell(cell, w.section.Columns[i].Type)
	}
	return w.rows.SetRow("A"+strconv.Itoa(w.line), values)
}

// cell gives a cell its type: text stays text, whatever it looks like, and is never a formula.
func (w *xlsxWriter) cell(cell any, typ Type) any {
	switch c := cell.(type) {
	case int:
		return excelize.Cell{StyleID: w.style[CountColumn], Value: c}
	case trade.Decimal:
		if n, ok := spreadsheetNumber(c); ok {
			return excelize.Cell{StyleID: w.style[NumberColumn], Value: n}
		}
		return excelize.Cell{StyleID: w.style[TextColumn], Value: decimalText(c, trade.Portuguese)}
	case Day:
		if at, err := time.Parse(time.DateOnly, string(c)); err == nil {
			return excelize.Cell{StyleID: w.style[DayColumn], Value: at}
		}
		return nil
	case time.Time:
		return excelize.Cell{StyleID: w.style[TimeColumn], Value: wallClock(c, w.zone)}
	}
	text, _ := textOf(cell)
	if text == "" {
		return nil
	}
	return excelize.Cell{StyleID: w.style[typ], Value: clip(text)}
}

// cellText is how many characters a cell of Excel holds.
const cellText = 32_767

func clip(text string) string {
	if r := []rune(text); len(r) > cellText {
		return string(r[:cellText])
	}
	return text
}

// wallClock gives a time as the zone's clock shows it: spreadsheets know no zones.
func wallClock(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// spreadsheetNumber gives a number that a spreadsheet keeps as it is: one of no more than 15 digits.
func spreadsheetNumber(d trade.Decimal) (float64, bool) { //nolint:forbidigo // a spreadsheet's numbers are floats, and one of up to 15 digits comes back as it was written
	text := d.String()
	if len(strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(text), "0")) > exactDigits {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64) //nolint:forbidigo // the same
	return n, err == nil
}

func excelWidth(characters int) float64 { return float64(characters) } //nolint:forbidigo // the width of a column, no amount

// close ends the sheet that is being written; its columns get filters.
func (w *xlsxWriter) close() error {
	if w.rows == nil {
		return nil
	}
	var err error
	if w.line > 1 {
		last, e := excelize.CoordinatesToCellName(len(w.section.Columns), w.line)
		stripes := false
		err = errors.Join(e, w.rows.AddTable(&excelize.Table{Range: "A1:" + last, Name: fmt.Sprintf("tabela%d", w.sheets), StyleName: "TableStyleLight1", ShowRowStripes: &stripes}))
	}
	err = errors.Join(err, w.rows.Flush())
	w.rows = nil
	return err
}

func (w *xlsxWriter) End() error {
	err := w.close()
	out := bufio.NewWriter(w.to)
	if err == nil {
		// Left alone it puts the whole file together in memory first, twice as large as the file when that grows.
		w.book.ZipWriter = func(io.Writer) excelize.ZipWriter { return zip.NewWriter(out) }
		err = w.book.Write(io.Discard)
	}
	return errors.Join(err, out.Flush(), w.book.Close())
}

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

// xlsxWriter writes a workbook with one sheet for each section. If a section has more rows or bytes
// than a sheet can hold, it continues on another sheet.
type xlsxWriter struct {
	most  int // most rows of a sheet
	book  *workbook.Book
	style map[Type]int
	head  int
	about Heading

	section Section
	part    int // sheets of the section so far
	rows    *workbook.Sheet
}

// ErrWorkbook means that a workbook would be larger than Excel can open.
var ErrWorkbook = workbook.ErrTooLarge

// NewXLSX returns a writer of a report as a workbook. The file is complete only after End.
func NewXLSX(to io.Writer) Writer { return newXLSX(to, workbook.SheetRows) }

func newXLSX(to io.Writer, most int) *xlsxWriter {
	return &xlsxWriter{most: most, book: workbook.NewBook(to)}
}

func (w *xlsxWriter) Begin(h Heading) error {
	w.about = h
	w.head = w.book.Style(*workbook.Head())
	note := w.book.Style(excelize.Style{Alignment: workbook.Wrapped()})
	w.style = map[Type]int{
		TextColumn:   w.book.Style(excelize.Style{NumFmt: 49, Alignment: workbook.Wrapped()}),
		CodeColumn:   w.book.Style(excelize.Style{NumFmt: 49}),
		CountColumn:  w.book.Style(excelize.Style{NumFmt: 3}),
		NumberColumn: w.book.Style(excelize.Style{CustomNumFmt: new("#,##0.00########")}),
		DayColumn:    w.book.Style(excelize.Style{CustomNumFmt: new("dd/mm/yyyy")}),
		TimeColumn:   w.book.Style(excelize.Style{CustomNumFmt: new("dd/mm/yyyy hh:mm:ss")}),
	}
	layout := workbook.Layout{Widths: []int{140}, Lines: true, Foot: h.Foot()}
	rows, err := w.book.Sheet(sentence("Report", h.Lang), layout, w.head, nil)
	if err != nil {
		return err
	}
	err = rows.Row([]workbook.SheetCell{{Style: w.head, Text: h.Title}})
	for _, line := range h.Lines {
		err = errors.Join(err, rows.Row([]workbook.SheetCell{{Style: note, Text: trade.Visible(line)}}))
	}
	return errors.Join(err, rows.Close(false))
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
	layout := workbook.Layout{Key: 1, Foot: w.about.Foot()}
	for _, id := range []string{"line", "product", "key"} { // the first columns say what a row is
		if i := slices.IndexFunc(w.section.Columns, func(c Column) bool { return c.ID == id }); i >= 0 {
			layout.Key = i + 1
		}
	}
	for _, c := range w.section.Columns {
		width, ok := narrow[c.ID]
		if !ok {
			width = map[Type]int{
				TextColumn: 22, CodeColumn: 16, CountColumn: 12, NumberColumn: 18, MoneyColumn: 19,
				DayColumn: 12, TimeColumn: 18,
			}[c.Type]
		}
		layout.Widths = append(layout.Widths, width)
	}
	titles := trade.Map(w.section.Columns, func(c Column) string { return c.Title })
	var err error
	w.rows, err = w.book.Sheet(name, layout, w.head, titles)
	return err
}

func (w *xlsxWriter) Row(cells []any) error {
	if w.rows.Rows == w.most || w.rows.Full() {
		if err := errors.Join(w.close(), w.sheet()); err != nil {
			return err
		}
	}
	row := make([]workbook.SheetCell, len(cells))
	for i, cell := range cells {
		column, c := w.section.Columns[i], workbook.SheetCell{}
		// text stays text, whatever it looks like, and is never a formula
		switch value := cell.(type) {
		case int:
			c = workbook.SheetCell{Style: w.style[CountColumn], Number: strconv.Itoa(value)}
		case trade.Decimal:
			c = workbook.SheetCell{Style: w.style[TextColumn], Text: decimalText(value, trade.Portuguese)}
			if number, ok := workbook.Number(value); ok {
				c = workbook.SheetCell{Style: w.style[NumberColumn], Number: number}
			}
		case Day:
			if at, err := time.Parse(time.DateOnly, string(value)); err == nil {
				c = workbook.SheetCell{Style: w.style[DayColumn], Number: workbook.Time(at)}
			}
		case time.Time:
			_, east := value.In(w.about.Zone).Zone() // spreadsheets have no zones
			local := value.Add(time.Duration(east) * time.Second)
			c = workbook.SheetCell{Style: w.style[TimeColumn], Number: workbook.Time(local)}
		default:
			if text := textOf(cell); text != "" {
				c = workbook.SheetCell{Style: w.style[column.Type], Text: text}
			}
			if key, _ := cell.(string); column.ID == "key" {
				c.Link = w.about.Find(w.section.ID, key)
			}
		}
		row[i] = c
	}
	return w.rows.Row(row)
}

// close ends the current sheet, and makes its rows a table with filters.
func (w *xlsxWriter) close() error {
	if w.rows == nil {
		return nil
	}
	rows := w.rows
	w.rows = nil
	return rows.Close(true)
}

func (w *xlsxWriter) End() error {
	if err := w.close(); err != nil {
		return err
	}
	return w.book.Finish()
}

// A list that people fill in, as a workbook or as CSV.

package workbook

import (
	"encoding/csv"
	"io"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// List receives the rows of a list one by one.
type List interface {
	Row(cells []string) error
	Close() error
}

// ListForm is the layout of a list. Every cell is text.
type ListForm struct {
	Name    string // of the sheet
	Columns []ListColumn
	Hidden  int // index of the first hidden column
}

// ListColumn is one column.
type ListColumn struct {
	Title  string
	Wide   bool
	Fill   bool     // people fill it in
	Offers []string // values of its drop-down list
}

// NewCSV begins a list as CSV.
func NewCSV(to io.Writer, form ListForm) (List, error) {
	l, err := BeginCSV(to)
	if err != nil {
		return nil, err
	}
	return l, l.Row(trade.Map(form.Columns, func(c ListColumn) string { return c.Title }))
}

// CSV is the format that Excel in Brazil opens directly: a byte order mark, ; between cells, CRLF.
type CSV struct{ *csv.Writer }

// BeginCSV begins a file.
func BeginCSV(to io.Writer) (CSV, error) {
	w := CSV{csv.NewWriter(to)}
	w.Comma, w.UseCRLF = ';', true
	if _, err := io.WriteString(to, "\ufeff"); err != nil {
		return w, phrase.Errorf("write the CSV: %w", err)
	}
	return w, nil
}

// Row adds a row in which no cell can be a formula.
func (w CSV) Row(cells []string) error {
	return w.Write(trade.Map(cells, func(c string) string { return trade.GuardFormula(trade.Visible(c)) }))
}

// Close ends the file.
func (w CSV) Close() error {
	w.Flush()
	return w.Error()
}

// Wrapped returns the alignment of texts of several lines.
func Wrapped() *excelize.Alignment { return &excelize.Alignment{WrapText: true, Vertical: "top"} }

// Head returns the style of the first row of a sheet: each time another one, because excelize completes it.
func Head() *excelize.Style {
	return &excelize.Style{
		Font:      &excelize.Font{Bold: true},
		Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8D8"}},
		Alignment: Wrapped(),
	}
}

// listBook is a list as a workbook; the columns to fill in have a colour.
type listBook struct {
	form  ListForm
	book  *Book
	sheet *Sheet
	text  int
	fill  int
}

// listKey is how many columns of a list say what a row is.
const listKey = 2

// NewList begins a list as a workbook.
func NewList(to io.Writer, form ListForm) (List, error) {
	l := &listBook{form: form, book: NewBook(to)}
	head := l.book.Style(*Head())
	wrapped := excelize.Style{NumFmt: 49, Alignment: Wrapped()}
	l.text = l.book.Style(wrapped)
	wrapped.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFF6D6"}}
	l.fill = l.book.Style(wrapped)
	layout := Layout{Fixed: listKey, Key: listKey, Hidden: form.Hidden, Offers: map[int][]string{}}
	for i, c := range form.Columns {
		width := 16
		if c.Wide {
			width = 38
		}
		layout.Widths = append(layout.Widths, width)
		if len(c.Offers) > 0 {
			layout.Offers[i] = c.Offers
		}
	}
	var err error
	titles := trade.Map(form.Columns, func(c ListColumn) string { return c.Title })
	l.sheet, err = l.book.Sheet(form.Name, layout, head, titles)
	return l, err
}

func (l *listBook) Row(cells []string) error {
	if l.sheet.Rows == SheetRows {
		return phrase.Errorf("a sheet holds %d rows: choose fewer, with --job or --state", SheetRows)
	}
	if l.sheet.Full() {
		return ErrTooLarge
	}
	row := make([]SheetCell, len(cells))
	for i, c := range cells {
		style := l.text
		if l.form.Columns[i].Fill {
			style = l.fill
		}
		row[i] = SheetCell{Style: style, Text: trade.Visible(c)}
	}
	return l.sheet.Row(row)
}

func (l *listBook) Close() error {
	if err := l.sheet.Close(false); err != nil {
		return err
	}
	return l.book.Finish()
}

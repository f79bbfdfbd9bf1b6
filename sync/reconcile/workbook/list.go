// A list that people fill in, as a workbook or as CSV.

package workbook

import (
	"encoding/csv"
	"errors"
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

type listCSV struct{ w *csv.Writer }

// NewCSV begins a list as CSV in which no cell can be a formula.
func NewCSV(to io.Writer, form ListForm) (List, error) {
	if _, err := io.WriteString(to, "\ufeff"); err != nil {
		return nil, phrase.Errorf("write the CSV: %w", err)
	}
	w := csv.NewWriter(to)
	w.Comma, w.UseCRLF = ';', true
	l := &listCSV{w}
	return l, l.Row(trade.Map(form.Columns, func(c ListColumn) string { return c.Title }))
}

func (l *listCSV) Row(cells []string) error {
	return l.w.Write(trade.Map(cells, func(c string) string { return trade.GuardFormula(trade.Visible(c)) }))
}

func (l *listCSV) Close() error {
	l.w.Flush()
	return l.w.Error()
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
	book  *excelize.File // everything but the sheet
	file  *File
	sheet *Sheet
	names []string // of the columns: A, B …
	text  int
	fill  int
	line  int
}

// listKey is how many columns of a list say what a row is.
const listKey = 2

// NewList begins a list as a workbook.
func NewList(to io.Writer, form ListForm) (List, error) {
	l := &listBook{form: form, book: excelize.NewFile(), file: NewFile(to), line: 1}
	head, err := l.book.NewStyle(Head())
	wrapped := excelize.Style{NumFmt: 49, Alignment: Wrapped()}
	text, textErr := l.book.NewStyle(&wrapped)
	wrapped.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFF6D6"}}
	fill, fillErr := l.book.NewStyle(&wrapped)
	l.text, l.fill = text, fill
	err = errors.Join(err, textErr, fillErr, l.book.SetSheetName(l.book.GetSheetName(0), form.Name))
	widths, offers := make([]int, len(form.Columns)), map[string][]string{}
	for i, c := range form.Columns {
		name, nameErr := excelize.ColumnNumberToName(i + 1)
		err = errors.Join(err, nameErr)
		l.names = append(l.names, name)
		widths[i] = 16
		if c.Wide {
			widths[i] = 38
		}
		if len(c.Offers) > 0 {
			offers[name] = c.Offers
		}
	}
	if err != nil {
		return nil, err
	}
	layout := Layout{Widths: widths, Fixed: listKey, Key: listKey, Hidden: form.Hidden}
	if err := l.book.SetDefinedName(layout.PrintTitles(form.Name)); err != nil {
		return nil, err
	}
	l.sheet = l.file.Sheet("xl/worksheets/sheet1.xml", layout)
	l.sheet.Offers = offers
	l.sheet.Begin(1)
	for i, c := range form.Columns {
		l.sheet.Text(l.names[i], head, c.Title)
	}
	return l, l.sheet.End()
}

func (l *listBook) Row(cells []string) error {
	if l.line == SheetRows {
		return phrase.Errorf("a sheet holds %d rows: choose fewer, with --job or --state", SheetRows)
	}
	l.line++
	l.sheet.Begin(l.line)
	for i, c := range cells {
		style := l.text
		if l.form.Columns[i].Fill {
			style = l.fill
		}
		l.sheet.Text(l.names[i], style, Clip(trade.Visible(c)))
	}
	return l.sheet.End()
}

func (l *listBook) Close() error {
	err := errors.Join(l.sheet.Close(false, ""), l.sheet.layout.Filter(l.book, l.form.Name, l.line))
	if err == nil {
		err = l.file.Finish(l.book)
	}
	return errors.Join(err, l.book.Close())
}

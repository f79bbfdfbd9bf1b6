// A list that people fill in, as a workbook or as CSV.

package workbook

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

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
	titles := make([]string, len(form.Columns))
	for i, c := range form.Columns {
		titles[i] = c.Title
	}
	return l, l.Row(titles)
}

func (l *listCSV) Row(cells []string) error {
	guarded := make([]string, len(cells))
	for i, c := range cells {
		guarded[i] = trade.GuardFormula(trade.Visible(c))
	}
	return l.w.Write(guarded)
}

func (l *listCSV) Close() error {
	l.w.Flush()
	return l.w.Error()
}

// listBook is a list as a workbook; the columns to fill in have a colour.
type listBook struct {
	to   io.Writer
	form ListForm
	book *excelize.File
	rows *excelize.StreamWriter
	text int
	fill int
	line int
}

// NewList begins a list as a workbook.
func NewList(to io.Writer, form ListForm) (List, error) {
	l := &listBook{to: to, form: form, book: excelize.NewFile(), line: 1}
	head, err := l.book.NewStyle(&excelize.Style{
		Font: &excelize.Font{Bold: true},
		Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8D8"}},
	})
	wrapped := excelize.Style{NumFmt: 49, Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}}
	text, textErr := l.book.NewStyle(&wrapped)
	wrapped.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFF6D6"}}
	fill, fillErr := l.book.NewStyle(&wrapped)
	l.text, l.fill, err = text, fill, errors.Join(err, textErr, fillErr)
	if err == nil {
		err = l.book.SetSheetName(l.book.GetSheetName(0), form.Name)
	}
	if err == nil {
		l.rows, err = l.book.NewStreamWriter(form.Name)
	}
	if err != nil {
		return nil, err
	}
	err = l.rows.SetPanes(&excelize.Panes{
		Freeze: true, XSplit: 2, YSplit: 1, TopLeftCell: "C2",
		ActivePane: "bottomRight",
	})
	cells := make([]any, len(form.Columns))
	for i, c := range form.Columns {
		width := 16
		if c.Wide {
			width = 38
		}
		err = errors.Join(err, l.rows.SetColWidth(i+1, i+1, Width(width)))
		cells[i] = excelize.Cell{StyleID: head, Value: c.Title}
	}
	err = errors.Join(err, l.rows.SetColVisible(form.Hidden+1, len(cells), false), l.rows.SetRow("A1", cells))
	return l, err
}

func (l *listBook) Row(cells []string) error {
	if l.line == SheetRows {
		return phrase.Errorf("a sheet holds %d rows: choose fewer, with --job or --state", SheetRows)
	}
	l.line++
	values := make([]any, len(cells))
	for i, c := range cells {
		style := l.text
		if l.form.Columns[i].Fill {
			style = l.fill
		}
		values[i] = excelize.Cell{StyleID: style, Value: Clip(trade.Visible(c))}
	}
	return l.rows.SetRow("A"+strconv.Itoa(l.line), values)
}

func (l *listBook) Close() error {
	var err error
	for i, c := range l.form.Columns {
		if len(c.Offers) == 0 || l.line == 1 {
			continue
		}
		name, no := excelize.ColumnNumberToName(i + 1)
		list := excelize.NewDataValidation(true)
		list.Sqref = fmt.Sprintf("%s2:%s%d", name, name, l.line)
		err = errors.Join(err, no, list.SetDropList(c.Offers))
		if err == nil {
			err = l.book.AddDataValidation(l.form.Name, list)
		}
	}
	err = errors.Join(err, l.rows.Flush())
	if err == nil {
		err = NewFile(l.to).Finish(l.book)
	}
	return errors.Join(err, l.book.Close())
}

package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/xuri/excelize/v2"
)

// sheet takes the rows of a result one by one.
type sheet interface {
	row(cells []string) error
	close() error // after it the file is whole
}

// newSheet begins a file, readable by its owner only: it holds whose consent was asked for. A file that is there is not overwritten.
func newSheet(path string) (sheet, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(path), ".xlsx") {
		return newXLSX(file)
	}
	return newCSV(file)
}

// csvSheet writes CSV as Excel reads it in Brazil: semicolons, a byte order mark, CRLF, nothing that it would run as a formula.
type csvSheet struct {
	to   io.Closer
	text *csv.Writer
}

func newCSV(to io.WriteCloser) (*csvSheet, error) {
	if _, err := io.WriteString(to, "\xef\xbb\xbf"); err != nil {
		return nil, errors.Join(err, to.Close())
	}
	s := &csvSheet{to, csv.NewWriter(to)}
	s.text.Comma, s.text.UseCRLF = ';', true
	return s, nil
}

// row is on its way to the disk when it returns: an interrupt, or a machine that stops, keeps what was done.
func (s *csvSheet) row(cells []string) error {
	guarded := make([]string, len(cells))
	for i, c := range cells {
		guarded[i] = guardCell(c)
	}
	if err := s.text.Write(guarded); err != nil {
		return err
	}
	s.text.Flush()
	return s.text.Error()
}

func (s *csvSheet) close() error { return errors.Join(s.text.Error(), s.to.Close()) }

// xlsxSheet writes a workbook with one sheet. All cells are text, so that no document loses its leading zeros and nothing is a formula. The
// file is whole only after close.
type xlsxSheet struct {
	to   io.WriteCloser
	book *excelize.File
	rows *excelize.StreamWriter
	line int
}

func newXLSX(to io.WriteCloser) (*xlsxSheet, error) {
	s := &xlsxSheet{to: to, book: excelize.NewFile()}
	var err error
	if s.rows, err = s.book.NewStreamWriter(s.book.GetSheetName(0)); err == nil {
		err = s.rows.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	}
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	return s, nil
}

func (s *xlsxSheet) row(cells []string) error {
	s.line++
	at, err := excelize.CoordinatesToCellName(1, s.line)
	if err != nil {
		return err
	}
	values := make([]any, len(cells))
	for i, c := range cells {
		values[i] = c
	}
	return s.rows.SetRow(at, values)
}

func (s *xlsxSheet) close() error {
	err := s.rows.Flush()
	out := bufio.NewWriter(s.to)
	if err == nil {
		err = s.book.Write(out)
	}
	return errors.Join(err, out.Flush(), s.book.Close(), s.to.Close())
}

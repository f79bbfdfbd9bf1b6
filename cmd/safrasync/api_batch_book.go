package main

import (
	"bytes"
	"errors"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"
)

// maxBookBytes bounds a workbook when it is unpacked.
const maxBookBytes = 64 << 20

// readWorkbook reads the list of producers from the first sheet of a workbook. Errors of the library may quote the file: they are not shown.
func readWorkbook(data []byte, v voice) (_ []consentFlags, err error) {
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		RawCellValue: true, // the number, not how it is formatted
		// Equal, or it would unpack large sheets to files of its own.
		UnzipSizeLimit: maxBookBytes, UnzipXMLSizeLimit: maxBookBytes,
	})
	if err != nil {
		return nil, errors.New(v.text(batchNoBook))
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	rows, err := book.Rows(book.GetSheetName(0))
	if err != nil {
		return nil, errors.New(v.text(batchNoBook))
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list := producerList{voice: v}
	for line := 1; rows.Next(); line++ {
		cells, err := rows.Columns()
		if err != nil {
			return nil, errors.New(v.text(batchNoBook))
		}
		for i, c := range cells {
			cells[i] = writtenOut(c)
		}
		if err := list.add(withoutBlanks(cells), line); err != nil {
			return nil, err
		}
	}
	if rows.Error() != nil {
		return nil, errors.New(v.text(batchNoBook))
	}
	return list.finish()
}

// writtenOut writes a number out that a workbook has with an exponent, as in 1.1222333000181E13.
func writtenOut(cell string) string {
	if len(cell) > 30 || !strings.ContainsAny(cell, "eE") || strings.Trim(cell, "0123456789.eE+") != "" {
		return cell
	}
	n, err := decimal.NewFromString(cell)
	if err != nil || !n.IsInteger() || n.Exponent() > 20 {
		return cell
	}
	return n.String()
}

// withoutBlanks takes the empty cells at the end of a row away: formatted ones have no content.
func withoutBlanks(cells []string) []string {
	for len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	return cells
}

package workbook

import (
	"archive/zip"
	"bytes"
	"errors"

	"github.com/xuri/excelize/v2"
)

// The largest unpacked sizes of a workbook, of a file of this host and of one that comes by
// browser. A cell takes several times as much memory.
const (
	UnpackedHere    = 256 << 20
	UnpackedBrowser = 16 << 20
)

// What makes a workbook unreadable. None of them quotes the file.
var (
	ErrNoWorkbook = errors.New("no workbook")
	ErrUnpacks    = errors.New("the workbook unpacks to more than is read")
	ErrNoSheet    = errors.New("the workbook has no such sheet")
)

// IsWorkbook reports whether a file begins as a workbook does, which is a ZIP.
func IsWorkbook(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// Read passes the lines of a sheet to row, numbers as they are stored; "" is the first sheet. It returns
// the names of the sheets. Nothing is unpacked to a file, and no more than unpacked bytes to memory.
func Read(data []byte, sheet string, unpacked int64, row func(cells []string, line int) error) ([]string, error) {
	directory, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, ErrNoWorkbook
	}
	var sum uint64
	for _, part := range directory.File { // no part yields more than it says
		sum += part.UncompressedSize64
		if part.UncompressedSize64 > uint64(unpacked) || sum > uint64(unpacked) {
			return nil, ErrUnpacks
		}
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: unpacked, UnzipXMLSizeLimit: unpacked, RawCellValue: true,
	})
	if err != nil { // excelize's own text may quote the file
		return nil, ErrNoWorkbook
	}
	defer func() { _ = book.Close() }()
	sheets := book.GetSheetList()
	if sheet == "" { // the first that people see
		sheet = book.GetSheetName(0)
		for i := len(sheets) - 1; i >= 0; i-- {
			visible, err := book.GetSheetVisible(sheets[i])
			if err == nil && visible {
				sheet = sheets[i]
			}
		}
	}
	at, err := book.GetSheetIndex(sheet)
	if err != nil || at < 0 {
		return sheets, ErrNoSheet
	}
	rows, err := book.Rows(sheet)
	if err != nil {
		return sheets, ErrNoWorkbook
	}
	defer func() { _ = rows.Close() }()
	for line := 1; rows.Next(); line++ {
		cells, err := rows.Columns()
		if err != nil {
			return sheets, ErrNoWorkbook
		}
		if err := row(cells, line); err != nil {
			return sheets, err
		}
	}
	return sheets, nil
}

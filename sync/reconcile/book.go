package reconcile

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// bookBytes is how many bytes a sheet of a workbook has at most, and the file: Excel refuses files
// of which one part says its size in 64 bits, as the archives of Go write it.
const bookBytes = math.MaxUint32

// spareBytes are kept free at the end of a sheet for its last row.
const spareBytes = 64 << 20

// ErrWorkbook says that a workbook would be larger than a program opens.
var ErrWorkbook = errors.New(
	"the workbook would have more than 4 GiB, which Excel does not open; choose fewer rows, or another form, such as csv")

// bookFile is a workbook's file. Sheets are written into it as their rows come, the rest when
// excelize has it all: left alone excelize keeps sheets in temporary files, sixteen megabytes of
// each in memory, and puts the file together in memory.
type bookFile struct {
	to        *bufio.Writer
	size      uint64 // of the file so far
	most      uint64 // of the file
	sheetMost uint64
	zip       *zip.Writer
	sheets    map[string]bool // the sheets that are written; true: excelize has asked for it
}

func newBookFile(to io.Writer) *bookFile {
	b := &bookFile{most: bookBytes, sheetMost: bookBytes, sheets: map[string]bool{}}
	b.to = bufio.NewWriterSize(to, 1<<16)
	b.zip = zip.NewWriter(b)
	return b
}

// Write takes bytes of the archive. It refuses more than a workbook has.
func (b *bookFile) Write(p []byte) (int, error) {
	if b.size += uint64(len(p)); b.size > b.most {
		return 0, ErrWorkbook
	}
	return b.to.Write(p)
}

// sheet begins a sheet. Its first row stays where it is when the others move.
func (b *bookFile) sheet(path string, widths []int) *sheetStream {
	b.sheets[path] = false
	s := &sheetStream{file: b}
	var to io.Writer
	if to, s.err = b.zip.Create(path); s.err != nil {
		return s
	}
	s.to = bufio.NewWriterSize(to, 1<<16)
	s.put(xml.Header +
		`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`)
	for i, width := range widths {
		n := strconv.Itoa(i + 1)
		s.put(`<col min="` + n + `" max="` + n + `" width="` + strconv.Itoa(width) + `" customWidth="1"/>`)
	}
	s.put(`</cols><sheetData>`)
	return s
}

// write adds all that is not a sheet of ours, and ends the file.
func (b *bookFile) write(book *excelize.File) error {
	book.ZipWriter = func(io.Writer) excelize.ZipWriter { return b }
	err := book.Write(io.Discard)
	for path, asked := range b.sheets {
		if !asked && err == nil {
			err = fmt.Errorf("the workbook has no sheet %s", path)
		}
	}
	return errors.Join(err, b.to.Flush())
}

// Create begins a part of the archive; those that are there already go nowhere.
func (b *bookFile) Create(path string) (io.Writer, error) {
	if _, ours := b.sheets[path]; ours {
		b.sheets[path] = true
		return io.Discard, nil
	}
	to, err := b.zip.Create(path)
	return &partWriter{to: to, left: b.sheetMost}, err
}

// AddFS is never called.
func (b *bookFile) AddFS(from fs.FS) error { return b.zip.AddFS(from) }

// Close ends the archive.
func (b *bookFile) Close() error { return b.zip.Close() }

// partWriter refuses a part that is larger than Excel reads.
type partWriter struct {
	to   io.Writer
	left uint64
}

func (p *partWriter) Write(text []byte) (int, error) {
	if uint64(len(text)) > p.left {
		return 0, ErrWorkbook
	}
	p.left -= uint64(len(text))
	return p.to.Write(text)
}

// sheetStream writes one sheet, cell by cell. What goes wrong is told by end and close.
type sheetStream struct {
	file *bookFile
	to   *bufio.Writer
	size uint64
	row  string
	err  error
}

func (s *sheetStream) put(text string) {
	if s.err != nil {
		return
	}
	s.size += uint64(len(text))
	_, s.err = s.to.WriteString(text)
}

// full tells whether the next row needs another sheet.
func (s *sheetStream) full() bool {
	return s.size > s.file.sheetMost-min(spareBytes, s.file.sheetMost/8)
}

func (s *sheetStream) begin(row int) {
	s.row = strconv.Itoa(row)
	s.put(`<row r="` + s.row + `">`)
}

func (s *sheetStream) end() error {
	s.put(`</row>`)
	return s.err
}

func (s *sheetStream) number(column string, style int, text string) {
	s.put(`<c r="` + column + s.row + `" s="` + strconv.Itoa(style) + `"><v>` + text + `</v></c>`)
}

// likeEscape is text that spreadsheets take for the code of a character.
var likeEscape = regexp.MustCompile(`_(x[0-9A-Fa-f]{4})`)

func (s *sheetStream) text(column string, style int, text string) {
	if strings.Contains(text, "_x") {
		text = likeEscape.ReplaceAllString(text, "_x005F_$1")
	}
	space := ""
	if strings.TrimSpace(text) != text {
		space = ` xml:space="preserve"`
	}
	s.put(`<c r="` + column + s.row + `" s="` + strconv.Itoa(style) + `" t="inlineStr"><is><t` + space + `>`)
	if s.err == nil {
		s.err = xml.EscapeText(s, []byte(text))
	}
	s.put(`</t></is></c>`)
}

// Write takes text that is XML.
func (s *sheetStream) Write(text []byte) (int, error) {
	s.size += uint64(len(text))
	return s.to.Write(text)
}

// close ends the sheet; table says that it has one.
func (s *sheetStream) close(table bool) error {
	s.put(`</sheetData>`)
	if table {
		s.put(`<tableParts count="1"><tablePart r:id="rId1"/></tableParts>`)
	}
	s.put(`</worksheet>`)
	if s.err != nil {
		return s.err
	}
	return s.to.Flush()
}

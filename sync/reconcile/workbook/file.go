// The file of a workbook and the streams of its sheets.

package workbook

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// bookBytes is the largest size in bytes of a sheet, and of the file: Excel refuses files with a
// part whose size is stored in 64 bits, as Go's archives do for larger parts.
const bookBytes = math.MaxUint32

// spareBytes are kept free at the end of a sheet for its last row.
const spareBytes = 64 << 20

// ErrTooLarge means that a workbook would be larger than Excel can open.
var ErrTooLarge = errors.New(
	"the workbook would have more than 4 GiB, which Excel does not open; choose fewer rows, or another form, such as csv")

// File is a workbook's file. Sheets are written into it as their rows come, the other parts when
// excelize has all of them. excelize alone would keep sheets in temporary files, with 16 MB of each
// in memory, and would build the file in memory.
type File struct {
	to        *bufio.Writer
	size      uint64 // bytes written so far
	Most      uint64 // largest size of the file
	SheetMost uint64
	zip       *zip.Writer
	// sheets that were written; true: excelize has written its own version
	sheets map[string]bool
}

// NewFile begins a file.
func NewFile(to io.Writer) *File {
	b := &File{Most: bookBytes, SheetMost: bookBytes, sheets: map[string]bool{}}
	b.to = bufio.NewWriterSize(to, 1<<16)
	b.zip = zip.NewWriter(b)
	return b
}

// Write writes bytes of the archive. It returns ErrTooLarge beyond Most.
func (b *File) Write(p []byte) (int, error) {
	b.size += uint64(len(p))
	if b.size > b.Most {
		return 0, ErrTooLarge
	}
	return b.to.Write(p)
}

// Layout is how a sheet is shown and printed: always with its first row.
type Layout struct {
	Widths []int // of the columns, in characters
	Fixed  int   // so many of the first columns stay visible when the others scroll
	Key    int   // so many of the first columns say what a row is: they are on each page that is printed
	Hidden int   // the columns from this one on are not shown; 0 = all are
}

// wideAbove is how many columns are still read where they are as wide as one page.
const wideAbove = 12

// Wide reports whether a sheet prints over several pages beside each other: its letters would be too small
// on one.
func (l Layout) Wide() bool {
	if l.Hidden > 0 {
		return l.Hidden > wideAbove
	}
	return len(l.Widths) > wideAbove
}

// PrintTitles names what each printed page of a sheet repeats: its first row and, on pages beside each
// other, its first columns.
func (l Layout) PrintTitles(sheet string) *excelize.DefinedName {
	to := quoted(sheet) + "$1:$1"
	if l.Wide() && l.Key > 0 {
		to = fmt.Sprintf("%s$A:$%c,%s", quoted(sheet), 'A'+l.Key-1, to)
	}
	return &excelize.DefinedName{Name: "_xlnm.Print_Titles", RefersTo: to, Scope: sheet}
}

// Filter names the cells of a sheet whose first row has filters, where they are no table.
func (l Layout) Filter(book *excelize.File, sheet string, rows int) error {
	last, err := excelize.CoordinatesToCellName(len(l.Widths), rows, true)
	if err != nil {
		return err
	}
	err = book.SetDefinedName(&excelize.DefinedName{
		Name: filterName, RefersTo: quoted(sheet) + "$A$1:" + last, Scope: sheet,
	})
	if err == nil { // people see it in no list of names
		names := book.WorkBook.DefinedNames.DefinedName
		names[len(names)-1].Hidden = true
	}
	return err
}

const filterName = "_xlnm._FilterDatabase"

func quoted(sheet string) string { return "'" + strings.ReplaceAll(sheet, "'", "''") + "'!" }

// Sheet begins a sheet. It prints on A4 landscape.
func (b *File) Sheet(path string, layout Layout) *Sheet {
	b.sheets[path] = false
	s := &Sheet{file: b, layout: layout}
	widths, fixed, hidden := layout.Widths, layout.Fixed, layout.Hidden
	fit := 1
	if layout.Wide() {
		fit = 0
	}
	var to io.Writer
	to, s.err = b.zip.Create(path)
	if s.err != nil {
		return s
	}
	s.to = bufio.NewWriterSize(to, 1<<16)
	s.put(xml.Header +
		`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheetPr><pageSetUpPr fitToPage="` + strconv.Itoa(fit) + `"/></sheetPr><sheetViews><sheetView workbookViewId="0">`)
	if fixed > 0 {
		s.put(fmt.Sprintf(`<pane xSplit="%d" ySplit="1" topLeftCell="%c2" activePane="bottomRight" state="frozen"/>`, fixed,
			'A'+fixed))
	} else {
		s.put(`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>`)
	}
	s.put(`</sheetView></sheetViews><cols>`)
	for i, width := range widths {
		n := strconv.Itoa(i + 1)
		s.put(`<col min="` + n + `" max="` + n + `" width="` + strconv.Itoa(width) + `" customWidth="1"`)
		if hidden > 0 && i >= hidden {
			s.put(` hidden="1"`)
		}
		s.put(`/>`)
	}
	s.put(`</cols><sheetData>`)
	return s
}

// Finish adds all parts that are not our sheets, and ends the file.
func (b *File) Finish(book *excelize.File) error {
	book.ZipWriter = func(io.Writer) excelize.ZipWriter { return b }
	err := book.Write(io.Discard)
	for path, asked := range b.sheets {
		if !asked && err == nil {
			err = fmt.Errorf("the workbook has no sheet %s", path)
		}
	}
	return errors.Join(err, b.to.Flush())
}

// Create begins a part of the archive. excelize's versions of sheets that were written already are
// discarded.
func (b *File) Create(path string) (io.Writer, error) {
	if _, ours := b.sheets[path]; ours {
		b.sheets[path] = true
		return io.Discard, nil
	}
	to, err := b.zip.Create(path)
	return &partWriter{to: to, left: b.SheetMost}, err
}

// AddFS is never called.
func (b *File) AddFS(from fs.FS) error { return b.zip.AddFS(from) }

// Close ends the archive.
func (b *File) Close() error { return b.zip.Close() }

// partWriter returns ErrTooLarge for a part that is larger than Excel can read.
type partWriter struct {
	to   io.Writer
	left uint64
}

func (p *partWriter) Write(text []byte) (int, error) {
	if uint64(len(text)) > p.left {
		return 0, ErrTooLarge
	}
	p.left -= uint64(len(text))
	return p.to.Write(text)
}

// Sheet writes one sheet, cell by cell. End and Close return the first error.
type Sheet struct {
	// Offers are the drop-down lists of columns, from the second row on.
	Offers map[string][]string

	file   *File
	layout Layout
	to     *bufio.Writer
	size   uint64
	row    string
	err    error
}

func (s *Sheet) put(text string) {
	if s.err != nil {
		return
	}
	s.size += uint64(len(text))
	_, s.err = s.to.WriteString(text)
}

// Full reports whether the next row must go to another sheet.
func (s *Sheet) Full() bool {
	return s.size > s.file.SheetMost-min(spareBytes, s.file.SheetMost/8)
}

// Begin begins a row.
func (s *Sheet) Begin(row int) {
	s.row = strconv.Itoa(row)
	s.put(`<row r="` + s.row + `">`)
}

// End ends the row and returns the first error.
func (s *Sheet) End() error {
	s.put(`</row>`)
	return s.err
}

// Number adds a cell with a number.
func (s *Sheet) Number(column string, style int, text string) {
	s.put(`<c r="` + column + s.row + `" s="` + strconv.Itoa(style) + `"><v>` + text + `</v></c>`)
}

// likeEscape matches text that spreadsheets would take for an escaped character.
var likeEscape = regexp.MustCompile(`_(x[0-9A-Fa-f]{4})`)

// Text adds a cell with a text.
func (s *Sheet) Text(column string, style int, text string) {
	if strings.Contains(text, "_x") {
		text = likeEscape.ReplaceAllString(text, "_x005F_$1")
	}
	space := ""
	if strings.TrimSpace(text) != text {
		space = ` xml:space="preserve"`
	}
	s.put(`<c r="` + column + s.row + `" s="` + strconv.Itoa(style) + `" t="inlineStr"><is><t` + space + `>`)
	s.escape(text)
	s.put(`</t></is></c>`)
}

// escape writes a text that is not XML yet.
func (s *Sheet) escape(text string) {
	if s.err == nil {
		s.err = xml.EscapeText(s, []byte(text))
	}
}

// pageSetup is A4 landscape, as long as needed: as wide as one page or, if the sheet is wide, in letters of
// this part of their size in percent.
const (
	pageMargins = `<pageMargins left="0.3" right="0.3" top="0.4" bottom="0.6" header="0.2" footer="0.3"/>`
	pageSetup   = `<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/>`
	wideSetup   = `<pageSetup paperSize="9" scale="70" fitToHeight="0" pageOrder="overThenDown" orientation="landscape"/>`
)

// footerText is the largest number of characters in a footer, without the page numbers.
const footerText = 200

// Footer returns a footer in the form of spreadsheets: a text on the left and the page number on
// the right.
func Footer(text string) string {
	if runes := []rune(text); len(runes) > footerText {
		text = string(runes[:footerText])
	}
	return `&L&8` + strings.ReplaceAll(text, "&", "&&") + `&R&8&P / &N`
}

// linkText is the largest number of characters of a text in a formula.
const linkText = 255

// Link adds a cell with a text that leads to an address. It adds nothing, and returns false, if one
// of the two is longer than a formula may have.
func (s *Sheet) Link(column string, style int, text, address string) bool {
	if utf8.RuneCountInString(text) > linkText || utf8.RuneCountInString(address) > linkText {
		return false
	}
	quoted := func(t string) string { return `"` + strings.ReplaceAll(t, `"`, `""`) + `"` }
	s.put(`<c r="` + column + s.row + `" s="` + strconv.Itoa(style) + `" t="str"><f>`)
	s.escape("HYPERLINK(" + quoted(address) + "," + quoted(text) + ")")
	s.put(`</f><v>`)
	s.escape(text)
	s.put(`</v></c>`)
	return true
}

// Write writes text that is XML already.
func (s *Sheet) Write(text []byte) (int, error) {
	s.size += uint64(len(text))
	return s.to.Write(text)
}

// Close ends the sheet; table reports whether it has a table, whose first row has filters. Otherwise the
// sheet has them. foot is printed at the bottom of each page, beside the page number.
func (s *Sheet) Close(table bool, foot string) error {
	s.put(`</sheetData>`)
	last, err := excelize.ColumnNumberToName(len(s.layout.Widths))
	s.err = cmp.Or(s.err, err)
	if !table {
		s.put(`<autoFilter ref="A1:` + last + s.row + `"/>`)
	}
	if len(s.Offers) != 0 && s.row != "1" {
		s.put(`<dataValidations count="` + strconv.Itoa(len(s.Offers)) + `">`)
		for _, column := range slices.Sorted(maps.Keys(s.Offers)) {
			s.put(`<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="` + column + `2:` + column + s.row +
				`"><formula1>`)
			s.escape(`"` + strings.Join(s.Offers[column], ",") + `"`)
			s.put(`</formula1></dataValidation>`)
		}
		s.put(`</dataValidations>`)
	}
	setup := pageSetup
	if s.layout.Wide() {
		setup = wideSetup
	}
	s.put(pageMargins + setup + `<headerFooter><oddFooter>`)
	s.escape(Footer(foot))
	s.put(`</oddFooter></headerFooter>`)
	if table {
		s.put(`<tableParts count="1"><tablePart r:id="rId1"/></tableParts>`)
	}
	s.put(`</worksheet>`)
	if s.err != nil {
		return s.err
	}
	return s.to.Flush()
}

// A workbook, written sheet by sheet.

package workbook

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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

// Book is a workbook. Rows of its sheets are written into the file as they come, the other parts
// when excelize has all of them. excelize alone would keep sheets in temporary files, with 16 MB
// and more of each in memory, and would build the file in memory.
type Book struct {
	Most      uint64 // largest size of the file
	SheetMost uint64
	book      *excelize.File // all but the rows
	to        io.Writer
	size      uint64 // bytes written so far
	parts     parts
	link      int   // style of a text that leads to an address
	err       error // of the styles
}

// NewBook begins a workbook.
func NewBook(to io.Writer) *Book {
	b := &Book{Most: bookBytes, SheetMost: bookBytes, book: excelize.NewFile(), to: to}
	b.parts = parts{zip.NewWriter(b), map[string]bool{}}
	b.link = b.Style(excelize.Style{NumFmt: 49, Font: &excelize.Font{Color: "1155CC", Underline: "single"}})
	return b
}

// Write writes bytes of the archive. It returns ErrTooLarge beyond Most.
func (b *Book) Write(p []byte) (int, error) {
	b.size += uint64(len(p))
	if b.size > b.Most {
		return 0, ErrTooLarge
	}
	return b.to.Write(p)
}

// Style adds a style. Its error is that of the next sheet.
func (b *Book) Style(s excelize.Style) int {
	id, err := b.book.NewStyle(&s)
	b.err = errors.Join(b.err, err)
	return id
}

// Finish adds all parts that are not our sheets, and ends the file.
func (b *Book) Finish() error {
	b.book.ZipWriter = func(io.Writer) excelize.ZipWriter { return b.parts }
	err := b.book.Write(io.Discard)
	for path, asked := range b.parts.sheets {
		if !asked && err == nil {
			err = fmt.Errorf("the workbook has no sheet %s", path)
		}
	}
	return errors.Join(err, b.book.Close())
}

// parts is the archive. excelize's versions of sheets that were written already are discarded.
type parts struct {
	*zip.Writer
	sheets map[string]bool // that were written; true: excelize has written its own version
}

// Create begins a part.
func (p parts) Create(path string) (io.Writer, error) {
	if _, ours := p.sheets[path]; ours {
		p.sheets[path] = true
		return io.Discard, nil
	}
	return p.Writer.Create(path)
}

// Layout is how a sheet is shown and printed: always with its first row, and on A4 landscape.
type Layout struct {
	Widths []int            // of the columns, in characters
	Fixed  int              // so many of the first columns stay visible when the others scroll
	Key    int              // so many of the first columns say what a row is: they are on each page that is printed
	Hidden int              // the columns from this one on are not shown; 0 = all are
	Offers map[int][]string // drop-down lists of columns, from the second row on
	Foot   string           // printed at the bottom of each page, beside the page number
	Lines  bool             // it has lines of text, and no row of titles
}

// wideAbove is how many columns are still read where they are as wide as one page.
const wideAbove = 12

// wide reports whether a sheet prints over several pages beside each other: its letters would be
// too small on one.
func (l Layout) wide() bool {
	if l.Hidden > 0 {
		return l.Hidden > wideAbove
	}
	return len(l.Widths) > wideAbove
}

// Sheet is a sheet to which rows are added.
type Sheet struct {
	Rows   int // so far
	book   *Book
	name   string
	number int // from 1
	layout Layout
	titles []any
	names  []string // of the columns: A, B …
	to     *bufio.Writer
	size   uint64
}

// Sheet begins a sheet; titles are those of its columns.
func (b *Book) Sheet(name string, l Layout, style int, titles []string) (*Sheet, error) {
	s := &Sheet{book: b, name: name, number: len(b.parts.sheets) + 1, layout: l}
	err := b.err
	if s.number == 1 {
		err = errors.Join(err, b.book.SetSheetName(b.book.GetSheetName(0), name))
	} else {
		_, newErr := b.book.NewSheet(name)
		err = errors.Join(err, newErr)
	}
	// excelize numbers its sheets in the order in which they are made
	path := fmt.Sprintf("xl/worksheets/sheet%d.xml", s.number)
	part, partErr := b.parts.Create(path)
	b.parts.sheets[path] = false
	err = errors.Join(err, partErr)
	s.to = bufio.NewWriterSize(part, 1<<16)
	fit, to := 1, "'"+strings.ReplaceAll(name, "'", "''")+"'!"
	if l.wide() {
		fit, to = 0, fmt.Sprintf("%s$A:$%c,%s", to, 'A'+l.Key-1, to)
	}
	s.put(xml.Header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"` +
		` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		fmt.Sprintf(`<sheetPr><pageSetUpPr fitToPage="%d"/></sheetPr><sheetViews><sheetView workbookViewId="0">`, fit))
	switch {
	case l.Lines:
	case l.Fixed > 0:
		s.put(fmt.Sprintf(`<pane xSplit="%d" ySplit="1" topLeftCell="%c2" activePane="bottomRight" state="frozen"/>`,
			l.Fixed, 'A'+l.Fixed))
	default:
		s.put(`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>`)
	}
	s.put(`</sheetView></sheetViews><cols>`)
	for i, width := range l.Widths {
		column, nameErr := excelize.ColumnNumberToName(i + 1)
		err = errors.Join(err, nameErr)
		s.names = append(s.names, column)
		hidden := ""
		if l.Hidden > 0 && i >= l.Hidden {
			hidden = ` hidden="1"`
		}
		s.put(fmt.Sprintf(`<col min="%d" max="%d" width="%d" customWidth="1"%s/>`, i+1, i+1, width, hidden))
	}
	s.put(`</cols><sheetData>`)
	if l.Lines {
		return s, err
	}
	row := make([]SheetCell, len(titles))
	for i, title := range titles {
		row[i] = SheetCell{Style: style, Text: title}
		s.titles = append(s.titles, title)
	}
	return s, errors.Join(err, s.Row(row), b.book.SetDefinedName(
		&excelize.DefinedName{Name: "_xlnm.Print_Titles", RefersTo: to + "$1:$1", Scope: name}))
}

// put writes markup. Row and Close return its error.
func (s *Sheet) put(text string) {
	s.size += uint64(len(text))
	_, _ = s.to.WriteString(text)
}

// escape writes a text.
func (s *Sheet) escape(text string) { _ = xml.EscapeText(s, []byte(text)) }

// Write writes text that is XML already.
func (s *Sheet) Write(text []byte) (int, error) {
	s.size += uint64(len(text))
	return s.to.Write(text)
}

// Full reports whether the next row must go to another sheet.
func (s *Sheet) Full() bool { return s.size > s.book.SheetMost-min(spareBytes, s.book.SheetMost/8) }

// SheetCell is a cell of a sheet; the zero value is none.
type SheetCell struct {
	Style  int
	Number string // it is this number
	Text   string
	Link   string // address to which the text leads
}

// formulaText is the largest number of characters of a text in a formula.
const formulaText = 255

// likeEscape matches text that spreadsheets would take for an escaped character.
var likeEscape = regexp.MustCompile(`_(x[0-9A-Fa-f]{4})`)

// Row adds a row. A text or address that is longer than a formula may have leads nowhere.
func (s *Sheet) Row(cells []SheetCell) error {
	s.Rows++
	row := strconv.Itoa(s.Rows)
	s.put(`<row r="` + row + `">`)
	for i, c := range cells {
		if c == (SheetCell{}) {
			continue
		}
		link := c.Link != "" && max(utf8.RuneCountInString(c.Text), utf8.RuneCountInString(c.Link)) <= formulaText
		if link {
			c.Style = s.book.link
		}
		s.put(`<c r="` + s.names[i] + row + `" s="` + strconv.Itoa(c.Style) + `"`)
		switch {
		case c.Number != "":
			s.put(`><v>` + c.Number + `</v></c>`)
		case link:
			quotes := strings.NewReplacer(`"`, `""`)
			s.put(` t="str"><f>`)
			s.escape(`HYPERLINK("` + quotes.Replace(c.Link) + `","` + quotes.Replace(c.Text) + `")`)
			s.put(`</f><v>`)
			s.escape(c.Text)
			s.put(`</v></c>`)
		default:
			text, space := clip(c.Text), ""
			if strings.Contains(text, "_x") {
				text = likeEscape.ReplaceAllString(text, "_x005F_$1")
			}
			if strings.TrimSpace(text) != text {
				space = ` xml:space="preserve"`
			}
			s.put(` t="inlineStr"><is><t` + space + `>`)
			s.escape(text)
			s.put(`</t></is></c>`)
		}
	}
	s.put(`</row>`)
	_, err := s.to.Write(nil) // the first error so far
	return err
}

// pageMargins and the page setups are those of A4 landscape, as long as needed: as wide as one page
// or, if the sheet is wide, in letters of this part of their size in percent.
const (
	pageMargins = `<pageMargins left="0.3" right="0.3" top="0.4" bottom="0.6" header="0.2" footer="0.3"/>`
	pageSetup   = `<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/>`
	wideSetup   = `<pageSetup paperSize="9" scale="70" fitToHeight="0" pageOrder="overThenDown" orientation="landscape"/>`
)

// footerText is the largest number of characters in a footer, without the page numbers.
const footerText = 200

// Close ends the sheet. Its first row gets filters: those of a table, if table and there are rows.
func (s *Sheet) Close(table bool) error {
	var err error
	l, last := s.layout, fmt.Sprintf("%s%d", s.names[len(s.names)-1], s.Rows)
	tabled := table && s.Rows > 1
	s.put(`</sheetData>`)
	switch {
	case l.Lines:
	case tabled:
		// the table takes its column names from the first row
		err = s.book.book.SetSheetRow(s.name, "A1", &s.titles)
		err = errors.Join(err, s.book.book.AddTable(s.name, &excelize.Table{
			Range:          "A1:" + last,
			Name:           fmt.Sprintf("tabela%d", s.number),
			StyleName:      "TableStyleLight1",
			ShowRowStripes: new(false),
		}))
	default:
		err = s.book.book.AutoFilter(s.name, "A1:"+last, nil)
		s.put(`<autoFilter ref="A1:` + last + `"/>`)
	}
	if len(l.Offers) != 0 && s.Rows > 1 {
		s.put(`<dataValidations count="` + strconv.Itoa(len(l.Offers)) + `">`)
		for _, i := range slices.Sorted(maps.Keys(l.Offers)) {
			s.put(fmt.Sprintf(`<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="%s2:%s%d"><formula1>`,
				s.names[i], s.names[i], s.Rows))
			s.escape(`"` + strings.Join(l.Offers[i], ",") + `"`)
			s.put(`</formula1></dataValidation>`)
		}
		s.put(`</dataValidations>`)
	}
	if !l.Lines {
		s.put(pageMargins)
	}
	if l.wide() {
		s.put(wideSetup)
	} else {
		s.put(pageSetup)
	}
	foot := []rune(l.Foot)
	foot = foot[:min(len(foot), footerText)]
	s.put(`<headerFooter><oddFooter>`) // at the right the number of the page
	s.escape(`&L&8` + strings.ReplaceAll(string(foot), "&", "&&") + `&R&8&P / &N`)
	s.put(`</oddFooter></headerFooter>`)
	if tabled {
		s.put(`<tableParts count="1"><tablePart r:id="rId1"/></tableParts>`)
	}
	s.put(`</worksheet>`)
	return errors.Join(err, s.to.Flush())
}

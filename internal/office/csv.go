package office

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
)

// textOf returns a text file in the encodings of spreadsheets: UTF-8, UTF-16 with a byte order mark,
// and otherwise Windows-1252, which Excel uses in Brazil. The error is in the person's language and
// quotes nothing of the file.
func textOf(data []byte, v words.Voice) (string, error) {
	if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) { // xls
		return "", errors.New(v.Text("the file cannot be read as an xlsx workbook; save it as xlsx or as “CSV UTF-8”"))
	}
	var err error
	decoded := true
	text, marked := bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	// some letters are UTF-8; if others are not, the text was put together from two encodings
	holdsUTF8 := bytes.Contains(text, []byte(string(utf8.RuneError))) ||
		bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && r != utf8.RuneError })
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		text, err = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
	case !utf8.Valid(text) && (marked || holdsUTF8):
		return "", errors.New(v.Text(`the file mixes encodings (UTF-8 and another); save it again as "CSV UTF-8"`))
	case !utf8.Valid(text):
		text, err = charmap.Windows1252.NewDecoder().Bytes(text)
	default:
		decoded = false
	}
	if err != nil || decoded && bytes.ContainsRune(text, utf8.RuneError) || bytes.ContainsRune(text, 0) {
		return "", errors.New(v.Text(`the file is not a CSV; save the spreadsheet as "CSV UTF-8"`))
	}
	return string(text), nil
}

// sheetText returns a sheet of a workbook as a text whose cells have tabs between them, on the same
// lines.
func sheetText(data []byte, layout ReferenceLayout, v words.Voice) (string, error) {
	var text strings.Builder
	w := csv.NewWriter(&text)
	w.Comma = '\t'
	most := cmp.Or(layout.Unpacked, workbook.UnpackedBrowser)
	sheets, err := workbook.Read(data, layout.Sheet, most, func(cells []string, _ int) error {
		for i, c := range cells {
			cells[i] = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ").Replace(c)
		}
		return w.Write(cells)
	})
	w.Flush()
	switch {
	case errors.Is(err, workbook.ErrUnpacks):
		err = errors.New(v.Text("the unpacked workbook has more than %d MiB; save it as “CSV UTF-8”", most>>20))
	case errors.Is(err, workbook.ErrNoSheet):
		err = errors.New(v.Text("the workbook has no sheet %q; it has: %s", layout.Sheet, shownHead(sheets)))
	case err != nil:
		err = errors.New(v.Text("the file cannot be read as an xlsx workbook; save it as xlsx or as “CSV UTF-8”"))
	}
	return text.String(), err
}

// separatorLine is the first line with which Excel names the separator.
var separatorLine = regexp.MustCompile(`^(?i:sep=)([;,\t])\r?\n`)

// NewCSV reads the records of a text. It reads ="000123", which keeps Excel from taking the zeros, as
// a quoted cell, and skips a line sep=; at the beginning, which still counts as a line.
func NewCSV(text string, separator rune) *csv.Reader {
	text = separatorLine.ReplaceAllString(text, "\n")
	asText := regexp.MustCompile(`(?m)(^|` + string(separator) + `)="([^"\r\n]*)"(` + string(separator) + `|\r?$)`)
	for range 2 { // two such cells share a separator
		text = asText.ReplaceAllString(text, `$1"$2"$3`)
	}
	c := csv.NewReader(strings.NewReader(text))
	c.Comma = separator
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = separator != '\t'
	return c
}

// separatorOf returns the separator that the first line names or uses: a semicolon, a tab or a
// comma.
func separatorOf(text string) rune {
	if m := separatorLine.FindStringSubmatch(text); m != nil {
		return rune(m[1][0])
	}
	head, _, _ := strings.Cut(text, "\n")
	for _, separator := range ";\t" {
		if strings.ContainsRune(head, separator) {
			return separator
		}
	}
	return ','
}

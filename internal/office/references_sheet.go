package office

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ReferenceLayout says where in a file the references are, and in what form. The zero one is a file with
// the header code,id or code,id,label.
type ReferenceLayout struct {
	Code  []string // columns of the code's parts; none: the header has the names code, id and label
	ID    string   // column of the id
	Label string   // column of the label; "" = none
	Where []string // COLUMN=VALUE: only these lines; values of one column are alternatives
	Pad   []int    // digits of each part of the code, whose zeros the spreadsheet lost; 0 = as it is
	As    string   // what the code is: one of codeForms
	Sheet string   // of a workbook; "" is the first

	// Unpacked is how many bytes a workbook may have in memory; 0: as if it came by browser.
	Unpacked int64
}

// AsDocument is the value of ReferenceLayout.As for a code that is a CPF or CNPJ.
const AsDocument = "document"

// asLower is that for a code that is compared in lower case.
const asLower = "lower"

// codeForms are the values of ReferenceLayout.As, with the lengths that a document of them may have.
var codeForms = map[string][]int{"": nil, asLower: nil, AsDocument: {11, 14}, "cpf": {11}, "cnpj": {14}}

const maxPad = 40 // digits of a part of a code

// ParseReferenceLayout reads a layout as people type it into a form: names and numbers with commas between
// them, conditions with semicolons.
func ParseReferenceLayout(code, id, label, where, pad, as string) ReferenceLayout {
	list := func(text, separator string) (out []string) {
		for item := range strings.SplitSeq(text, separator) {
			item = strings.TrimSpace(item)
			if item != "" {
				out = append(out, item)
			}
		}
		return out
	}
	l := ReferenceLayout{
		Code: list(code, ","), ID: strings.TrimSpace(id), Label: strings.TrimSpace(label), Where: list(where, ";"),
		As: as,
	}
	for _, item := range list(pad, ",") {
		n, err := strconv.Atoi(item)
		if err != nil {
			n = -1 // Fault tells it
		}
		l.Pad = append(l.Pad, n)
	}
	return l
}

func (l ReferenceLayout) plain() bool { return len(l.Code) == 0 }

// Fault returns what is wrong with a layout, as a phrase with its arguments; "" if it is right.
func (l ReferenceLayout) Fault() (key i18n.Key, args []any) {
	lengths, known := codeForms[l.As]
	switch {
	case l.plain() != (l.ID == ""), l.plain() && (l.Label != "" || len(l.Where) > 0):
		return "name the column of the code and that of the id together; without both there is no column of the label and no filter", nil
	case !l.plain() && len(l.Pad) > 0 && len(l.Pad) != len(l.Code),
		slices.ContainsFunc(l.Pad, func(n int) bool { return n < 0 || n > maxPad }):
		return "%d {number|numbers} of digits for %d {part|parts} of the code: give one for each part, from 0 to 40, such as 3,4", []any{len(l.Pad), len(l.Code)}
	case !known:
		return "there is no form of a code %q; there are document (CPF or CNPJ), cpf, cnpj and lower (lower case)", []any{l.As}
	case lengths != nil && (len(l.Code) > 1 || len(l.Pad) > 0):
		return "a code that is a document (CPF or CNPJ) has one column, and its zeros come back by themselves: give no digits", nil
	}
	for _, w := range l.Where {
		if name, _, ok := strings.Cut(w, "="); !ok || strings.TrimSpace(name) == "" {
			return "the filter %q must be COLUMN=VALUE, such as Status=Active", []any{w}
		}
	}
	return "", nil
}

// sheet is an open CSV whose header was found.
type sheet struct {
	voice  words.Voice
	layout ReferenceLayout
	rows   *csv.Reader
	head   []string
	code   []int // positions of the columns
	id     int
	label  int // -1: none
	where  map[int][]string
}

// openSheet finds the header. With named columns, titles may stand before it, and the separator is
// the one that finds them.
func openSheet(text string, layout ReferenceLayout, v words.Voice) (*sheet, error) {
	if layout.plain() {
		s := &sheet{voice: v, layout: layout, rows: NewCSV(text, separatorOf(text)), id: 1, label: -1}
		head := s.nextFilled()
		if head == nil {
			return nil, errors.New(v.Text("the file has no line"))
		}
		if len(head) < 2 || len(head) > len(referenceHead) ||
			!slices.EqualFunc(head, referenceHead[:len(head)], sameWords) {
			return nil, errors.New(v.Text("the first line must be the header code,id or code,id,label (or with ;), and is: %s. If the columns have other names, name that of the code and that of the id", shownHead(head)))
		}
		s.head, s.code = referenceHead[:len(head)], []int{0}
		if len(head) == len(referenceHead) {
			s.label = 2
		}
		return s, nil
	}
	var nearest error
	most := -1
	for _, separator := range []rune{separatorOf(text), ';', '\t', ','} {
		s := &sheet{voice: v, layout: layout, rows: NewCSV(text, separator)}
		for range maxTitleLines {
			s.head = s.nextFilled()
			if s.head == nil {
				break
			}
			found, err := s.place()
			if err == nil {
				return s, nil
			}
			// The line that has most of the columns is the header that was meant.
			if likely := found*maxTitleLines + min(len(s.head), maxTitleLines-1); likely > most {
				most, nearest = likely, err
			}
		}
	}
	return nil, cmp.Or(nearest, errors.New(v.Text("the file has no line")))
}

// nextFilled returns the next record that is not blank, without blank cells at its end; nil at the
// end. A title that is no CSV is skipped.
func (s *sheet) nextFilled() []string {
	for {
		record, err := s.rows.Read()
		if errors.Is(err, io.EOF) || err != nil && s.layout.plain() {
			return nil
		}
		if n := filled(record); n > 0 {
			return record[:n]
		}
	}
}

// place finds the columns of the layout in the header. It returns how many it found.
func (s *sheet) place() (found int, err error) {
	at := func(name string) int {
		var places []int
		for i, h := range s.head {
			if sameWords(h, name) {
				places = append(places, i)
			}
		}
		switch {
		case len(places) == 1:
			found++
			return places[0]
		case err != nil:
		case len(places) > 1:
			err = errors.New(s.voice.Text("the column %q appears twice in the header (%s and %s); give each a name of its own", name, letters(places[0]), letters(places[1])))
		default:
			text := s.voice.Text("the header has no column %q; it has: %s", name, shownHead(s.head))
			if near := config.Closest(name, s.head); near != "" {
				text += s.voice.Text("; did you mean %q?", near)
			}
			err = errors.New(text)
		}
		return -1
	}
	s.code = trade.Map(s.layout.Code, at)
	s.id, s.label, s.where = at(s.layout.ID), -1, map[int][]string{}
	if s.layout.Label != "" {
		s.label = at(s.layout.Label)
	}
	for _, w := range s.layout.Where {
		name, value, _ := strings.Cut(w, "=")
		i := at(name)
		s.where[i] = append(s.where[i], value)
	}
	return found, err
}

// wanted reports whether a line is one of those that the layout asks for.
func (s *sheet) wanted(record []string) bool {
	for i, values := range s.where {
		if !slices.ContainsFunc(values, func(v string) bool { return sameWords(cell(record, i), v) }) {
			return false
		}
	}
	return true
}

// codeOf returns the code of a line, or why there is none, in the person's language.
func (s *sheet) codeOf(record []string) (code, why string) {
	var parts []string
	for _, i := range s.code {
		text := trade.UnguardFormula(cell(record, i))
		if s.layout.plain() {
			parts = append(parts, mapping.CodeParts(text)...)
		} else {
			parts = append(parts, strings.NewReplacer(`\`, `\\`, "|", `\|`).Replace(text))
		}
	}
	if len(s.layout.Pad) > 0 && len(parts) != len(s.layout.Pad) {
		return "", s.in(s.code[0], "%d {number|numbers} of digits for %d {part|parts} of the code: give one for each part, from 0 to 40, such as 3,4", len(s.layout.Pad), len(parts))
	}
	for i, part := range parts {
		column := s.code[min(i, len(s.code)-1)]
		if at := strings.IndexFunc(part, trade.Unseen); at >= 0 {
			r := []rune(part[at:])[0]
			return "", s.in(column, "the code %s has an invisible character (%s) at position %d; clear the cell and type the code again", config.ShortName(part), fmt.Sprintf("U+%04X", r),
				len([]rune(part[:at]))+1)
		}
		if shortened.MatchString(part) || excelError.MatchString(part) {
			return "", s.in(column, "%q is no code: the spreadsheet shortened a number or stored an error; format the column as text, type the code again and save", part)
		}
		if len(s.layout.Pad) > 0 {
			parts[i], why = s.padded(column, part, s.layout.Pad[i])
			if why != "" {
				return "", why
			}
		}
		switch {
		case s.layout.As == asLower:
			parts[i] = strings.ToLower(parts[i])
		case s.layout.As != "":
			parts[i], why = s.document(column, part)
			if why != "" {
				return "", why
			}
		}
	}
	code = mapping.NormalCode(strings.Join(parts, "|"))
	if mapping.IsBlankCode(code) {
		return "", s.in(s.code[0], "the code is blank")
	}
	return code, ""
}

var (
	shortened  = regexp.MustCompile(`^[+-]?\d+([.,]\d+)?[eE][+-]\d+$`)
	excelError = regexp.MustCompile(`^#(N/[AD]|[A-ZÇÚ/0]+[!?]|#+)$`)
	digits     = regexp.MustCompile(`^\d+$`)
	formatted  = regexp.MustCompile(`^[+-]?[\d.,]+$`)
)

// padded gives a number back the zeros that a spreadsheet has taken from it.
func (s *sheet) padded(column int, part string, width int) (text, why string) {
	switch {
	case width == 0:
		return part, ""
	case part == "":
		return "", s.in(column, "the code is blank")
	case !digits.MatchString(part) && formatted.MatchString(part):
		return "", s.in(column, "%q seems to be a number that the spreadsheet formatted; format the column as text, or as a number without decimals and thousands separators, and save again", part)
	case !digits.MatchString(part):
		return part, "" // only a number loses zeros
	case len(part) > width:
		return "", s.in(column, "%q has more than %d digits", part, width)
	}
	return strings.Repeat("0", width-len(part)) + part, ""
}

// document returns a CPF or CNPJ as it is looked up: only its digits and letters, with the zeros
// that a spreadsheet has taken from it. One that can be both is refused, unless the layout says which.
func (s *sheet) document(column int, part string) (number, why string) {
	if part == "" {
		return "", s.in(column, "the code is blank")
	}
	lengths := codeForms[s.layout.As]
	if number, _, err := apiclient.ParseDocument(part); err == nil {
		if !slices.Contains(lengths, len(number)) {
			return "", s.in(column, "%s is not of the kind that was given (cpf or cnpj)", hidden(part))
		}
		return number, ""
	}
	var found []string
	for _, length := range lengths {
		if len(part) < length && digits.MatchString(part) {
			full := strings.Repeat("0", length-len(part)) + part
			if number, _, err := apiclient.ParseDocument(full); err == nil {
				found = append(found, number)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", s.in(column, "%s is neither a CPF nor a CNPJ, also with zeros before it: length or check digits do not agree", hidden(part))
	case 1:
		return found[0], ""
	}
	return "", s.in(column, "%s can be a CPF and also a CNPJ that lost leading zeros; write all of it, or import persons and companies apart, with a filter and the form cpf or cnpj (--where Pessoa=PF --code-as cpf)", hidden(part))
}

// hidden masks what should have been a document, so that a person still recognises the cell.
func hidden(text string) string {
	r := []rune(text)
	for i := range r {
		if i < len(r)-2 && (unicode.IsDigit(r[i]) || unicode.IsLetter(r[i])) {
			r[i] = '*'
		}
	}
	return config.ShortName(string(r))
}

// in returns a phrase about a column, which it names as the file and as a spreadsheet do.
func (s *sheet) in(column int, key i18n.Key, args ...any) string {
	return s.voice.Text("column %s (%s): %s", strings.Join(strings.Fields(s.head[column]), " "), letters(column),
		trade.MaskDocuments(s.voice.Text(key, args...)))
}

// letters returns the name of a column in a spreadsheet.
func letters(column int) string {
	name := string(rune('A' + column%26))
	if column >= 26 {
		return letters(column/26-1) + name
	}
	return name
}

// filled returns how many cells remain without the blank ones at the end.
func filled(record []string) int {
	for n := len(record); n > 0; n-- {
		if strings.TrimSpace(record[n-1]) != "" {
			return n
		}
	}
	return 0
}

// asFormula matches a cell that Excel was to take as text.
var asFormula = regexp.MustCompile(`^="([^"]*)"$`)

// cell returns a cell without blanks around it; "" where the line has none.
func cell(record []string, i int) string {
	if i >= len(record) {
		return ""
	}
	return strings.TrimSpace(asFormula.ReplaceAllString(strings.TrimSpace(record[i]), "$1"))
}

// sameWords compares the text of a cell with what a person typed, without regard to case and
// blanks.
func sameWords(a, b string) bool {
	plain := func(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }
	return strings.EqualFold(plain(a), plain(b))
}

// shownHead returns a header for a message. What should be one may be a line of data.
func shownHead(head []string) string {
	const shown = 12
	names := trade.Map(head[:min(len(head), shown)], func(h string) string {
		return trade.MaskDocuments(strings.Join(strings.Fields(h), " "))
	})
	return trade.CutText(words.Printable(strings.Join(names, " · ")))
}

package office

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// maxCSVBytes limits a de-para file; a million lines fit.
const maxCSVBytes = 128 << 20

// BadLine is a line of a CSV that cannot be imported.
type BadLine struct {
	Line int    `json:"line"` // of the file, from 1
	Text string `json:"text"` // why, in the person's language
}

// ReferenceTable is the content of a file with references.
type ReferenceTable struct {
	Codes   map[string]string
	Labels  map[string]string // nil: the file has no column for labels
	Bad     []BadLine
	LeftOut int    // lines that are not where Layout.Where says
	Text    string // the file as UTF-8, of a workbook the sheet
}

// maxTitleLines is how many records may stand before the header.
const maxTitleLines = 50

// readReferences reads a workbook with codes and ids, or a CSV in the encodings and with the separators
// of spreadsheets. Without columns in the layout it has the header code,id or code,id,label. It returns
// an error if the file is not such a table at all; invalid lines are in Bad.
func readReferences(r io.Reader, layout ReferenceLayout, v words.Voice) (ReferenceTable, error) {
	t := ReferenceTable{Codes: map[string]string{}}
	if key, args := layout.Fault(); key != "" {
		return t, errors.New(v.Text(key, args...))
	}
	data, err := io.ReadAll(io.LimitReader(r, maxCSVBytes+1))
	if err == nil && len(data) > maxCSVBytes {
		err = errors.New(v.Text("the file is larger than %d MiB", maxCSVBytes>>20))
	}
	if err != nil {
		return t, err
	}
	var text string
	switch {
	case workbook.IsWorkbook(data):
		text, err = sheetText(data, layout, v)
	case layout.Sheet != "":
		err = errors.New(v.Text("only an xlsx workbook has sheets; this file is a text"))
	default:
		text, err = textOf(data, v)
	}
	if err != nil {
		return t, err
	}
	t.Text = text
	s, err := openSheet(text, layout, v)
	if err != nil {
		return t, err
	}
	if s.label >= 0 {
		t.Labels = map[string]string{}
	}
	lineOf := map[string]int{}
	for {
		record, err := s.rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if fault, broken := errors.AsType[*csv.ParseError](err); broken {
			// After an unclosed quote it is unknown where the next line begins.
			t.Bad = append(t.Bad, BadLine{fault.StartLine, v.Text("a quote is not closed; the rest of the file cannot be read")})
			break
		}
		if err != nil {
			return t, err
		}
		line, _ := s.rows.FieldPos(0)
		switch {
		case filled(record) == 0: // spreadsheets leave empty lines at the end
		case !s.wanted(record):
			t.LeftOut++
		default:
			if why := t.add(s, record, line, lineOf); why != "" {
				t.Bad = append(t.Bad, BadLine{line, why})
			}
		}
	}
	if t.LeftOut > 0 && len(t.Codes)+len(t.Bad) == 0 {
		return t, errors.New(v.Text("none of the %d lines meets the filter; check the column and the value", t.LeftOut))
	}
	return t, nil
}

// referenceHead is the header of a table; the label is optional.
var referenceHead = []string{"code", "id", "label"}

// add takes over a record. It returns why it cannot, in the person's language; "" if it can.
func (t *ReferenceTable) add(s *sheet, record []string, line int, lineOf map[string]int) string {
	if filled(record) > len(s.head) || s.layout.plain() && len(record) < len(s.head) {
		return s.voice.Text("has %d {column|columns} instead of %d", len(record), len(s.head))
	}
	code, why := s.codeOf(record)
	if why != "" {
		return why
	}
	id, err := trade.ParseID(cell(record, s.id))
	switch {
	case cell(record, s.id) == "":
		return s.in(s.id, "the id is blank")
	case err != nil:
		return s.in(s.id, "the id %s is not a UUID", config.ShortName(cell(record, s.id)))
	case lineOf[code] > 0 && t.Codes[code] != id:
		return s.voice.Text("the code %s already appears in line %d with another id", trade.MaskDocuments(code), lineOf[code])
	}
	lineOf[code], t.Codes[code] = line, id
	if t.Labels != nil {
		t.Labels[code] = trade.CutText(trade.UnguardFormula(cell(record, s.label)))
	}
	return ""
}

// writeReferences writes a table in the form that readReferences reads.
func writeReferences(w io.Writer, table []trade.Reference) error {
	c := csv.NewWriter(w)
	columns := 2
	if slices.ContainsFunc(table, func(r trade.Reference) bool { return r.Label != "" }) {
		columns = 3
	}
	if err := c.Write(referenceHead[:columns]); err != nil {
		return phrase.Errorf("write the CSV: %w", err)
	}
	for _, r := range table {
		cells := []string{trade.GuardFormula(r.Code), trade.GuardFormula(r.ID), trade.GuardFormula(r.Label)}
		if err := c.Write(cells[:columns]); err != nil {
			return phrase.Errorf("write the CSV: %w", err)
		}
	}
	c.Flush()
	return c.Error()
}

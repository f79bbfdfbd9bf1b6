package refs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// maxCSVBytes limits a de-para file; a million lines fit.
const maxCSVBytes = 128 << 20

// badLine is a line of a CSV that cannot be imported.
type badLine struct {
	Line int    `json:"line"` // of the file, from 1
	Text string `json:"text"` // why, in the person's language
}

// ReferenceTable is the content of a CSV with references.
type ReferenceTable struct {
	Codes  map[string]string
	Labels map[string]string // nil: the file has no column for labels
	Bad    []badLine
}

// ReadReferences reads a CSV with the header code,id or code,id,label. It accepts a byte order mark
// and the separators of spreadsheets (; and tab). It returns an error if the file is not such a
// table at all; invalid lines are in Bad.
func ReadReferences(r io.Reader, v cli.Voice) (ReferenceTable, error) {
	t := ReferenceTable{Codes: map[string]string{}}
	c, err := cli.OpenCSV(r, maxCSVBytes, v)
	if err != nil {
		return t, err
	}
	head, err := c.Read()
	if err != nil || len(head) < 2 || len(head) > len(referenceHead) ||
		!slices.EqualFunc(head, referenceHead[:len(head)], isHead) {
		return t, errors.New(v.Text("csv.no_header"))
	}
	if len(head) == len(referenceHead) {
		t.Labels = map[string]string{}
	}
	lineOf := map[string]int{}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		var fault *csv.ParseError
		if errors.As(err, &fault) {
			// After an unclosed quote it is unknown where the next line begins.
			t.Bad = append(t.Bad, badLine{fault.StartLine, v.Text("csv.broken")})
			return t, nil
		}
		if err != nil {
			return t, err
		}
		line, _ := c.FieldPos(0)
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" || strings.TrimSpace(strings.Join(record, "")) == "" {
			continue // spreadsheets leave empty lines at the end
		}
		t.add(record, line, lineOf, v)
	}
}

// referenceHead is the header of a table; the label is optional.
var referenceHead = []string{"code", "id", "label"}

func isHead(cell, name string) bool { return strings.EqualFold(strings.TrimSpace(cell), name) }

func (t *ReferenceTable) add(record []string, line int, lineOf map[string]int, v cli.Voice) {
	refuse := func(p i18n.Key, args ...any) { t.Bad = append(t.Bad, badLine{line, v.Text(p, args...)}) }
	columns := 2
	if t.Labels != nil {
		columns = 3
	}
	if len(record) != columns {
		refuse("csv.columns", len(record), columns)
		return
	}
	code := cli.NormalCode(trade.UnguardFormula(strings.TrimSpace(record[0])))
	id, err := trade.ParseID(record[1])
	switch {
	case cli.IsBlankCode(code):
		refuse("csv.no_code")
	case err != nil:
		refuse("csv.no_uuid", config.ShortName(strings.TrimSpace(record[1])))
	case lineOf[code] > 0 && t.Codes[code] != id:
		refuse("csv.double", code, lineOf[code])
	default:
		lineOf[code], t.Codes[code] = line, id
		if t.Labels != nil {
			t.Labels[code] = trade.CutText(trade.UnguardFormula(strings.TrimSpace(record[2])))
		}
	}
}

// WriteReferences writes a table in the form that ReadReferences reads.
func WriteReferences(w io.Writer, table []trade.Reference) error {
	c := csv.NewWriter(w)
	columns := 2
	if slices.ContainsFunc(table, func(r trade.Reference) bool { return r.Label != "" }) {
		columns = 3
	}
	if err := c.Write(referenceHead[:columns]); err != nil {
		return fmt.Errorf("write the CSV: %w", err)
	}
	for _, r := range table {
		cells := []string{trade.GuardFormula(r.Code), trade.GuardFormula(r.ID), trade.GuardFormula(r.Label)}
		if err := c.Write(cells[:columns]); err != nil {
			return fmt.Errorf("write the CSV: %w", err)
		}
	}
	c.Flush()
	return c.Error()
}

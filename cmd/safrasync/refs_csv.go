package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// maxCSVBytes bounds a de-para file: a million lines fit.
const maxCSVBytes = 128 << 20

// badLine is a line of a CSV that cannot be imported.
type badLine struct {
	Line int    `json:"line"` // of the file, from 1
	Text string `json:"text"` // why, in the person's language
}

// referenceTable is a CSV that was read.
type referenceTable struct {
	codes  map[string]string
	labels map[string]string // nil: the file has no column for them
	bad    []badLine
}

// readReferences reads a CSV with the header code,id or code,id,label. A byte order mark and the separators of
// spreadsheets (; and tab) are taken too. The error is for a file that is no such table at all;
// single lines that are wrong are in bad.
func readReferences(r io.Reader, v voice) (referenceTable, error) {
	t := referenceTable{codes: map[string]string{}}
	c, err := openCSV(r, maxCSVBytes, v)
	if err != nil {
		return t, err
	}
	head, err := c.Read()
	if err != nil || len(head) < 2 || len(head) > len(referenceHead) ||
		!slices.EqualFunc(head, referenceHead[:len(head)], isHead) {
		return t, errors.New(v.text("csv.no_header"))
	}
	if len(head) == len(referenceHead) {
		t.labels = map[string]string{}
	}
	lineOf := map[string]int{}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		var fault *csv.ParseError
		if errors.As(err, &fault) {
			// After a broken quote nobody knows where the next line begins.
			t.bad = append(t.bad, badLine{fault.StartLine, v.text("csv.broken")})
			return t, nil
		}
		if err != nil {
			return t, err
		}
		line, _ := c.FieldPos(0)
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" || strings.TrimSpace(strings.Join(record, "")) == "" {
			continue // what spreadsheets leave at the end
		}
		t.add(record, line, lineOf, v)
	}
}

// referenceHead is the header of a table; the label may be left out.
var referenceHead = []string{"code", "id", "label"}

func isHead(cell, name string) bool { return strings.EqualFold(strings.TrimSpace(cell), name) }

func (t *referenceTable) add(record []string, line int, lineOf map[string]int, v voice) {
	refuse := func(p i18n.Key, args ...any) { t.bad = append(t.bad, badLine{line, v.text(p, args...)}) }
	columns := 2
	if t.labels != nil {
		columns = 3
	}
	if len(record) != columns {
		refuse("csv.columns", len(record), columns)
		return
	}
	code := normalCode(trade.UnguardFormula(strings.TrimSpace(record[0])))
	id, err := trade.ParseID(record[1])
	switch {
	case isBlankCode(code):
		refuse("csv.no_code")
	case err != nil:
		refuse("csv.no_uuid", shortName(strings.TrimSpace(record[1])))
	case lineOf[code] > 0 && t.codes[code] != id:
		refuse("csv.double", code, lineOf[code])
	default:
		lineOf[code], t.codes[code] = line, id
		if t.labels != nil {
			t.labels[code] = trade.CutText(trade.UnguardFormula(strings.TrimSpace(record[2])))
		}
	}
}

// writeReferences writes what readReferences reads.
func writeReferences(w io.Writer, table []trade.Reference) error {
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

// normalCode brings a code into the form in which the engine makes it of the ERP's columns: parts
// trimmed and joined with |.
func normalCode(code string) string { return strings.Join(codeParts(code), "|") }

// codeParts takes a code or key apart at its |. A | or \ inside a part stays as it is written,
// escaped with \.
func codeParts(code string) []string {
	var parts []string
	start, escaped := 0, false
	for i := range len(code) {
		switch {
		case escaped:
			escaped = false
		case code[i] == '\\':
			escaped = true
		case code[i] == '|':
			parts = append(parts, strings.TrimSpace(code[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(code[start:]))
}

func isBlankCode(code string) bool { return strings.Trim(code, "| ") == "" }

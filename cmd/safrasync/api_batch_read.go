package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBatchBytes bounds a list of producers: a hundred thousand fit.
const maxBatchBytes = 8 << 20

// batchColumns are those of a list of producers; the last one may be absent.
var batchColumns = []string{"identity", "person_type", "corporate_identity"}

// readBatch reads a list of producers for `api consent --file`: CSV with a header, in any order of columns, from spreadsheets too. Values are
// not judged here: a producer with a wrong number is a line of the result like any other.
func (a *App) readBatch(file string) (list []consentFlags, err error) {
	in := a.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", file, plainReason(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	if list, err = readProducers(in, a.voice()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

func readProducers(r io.Reader, v voice) ([]consentFlags, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBatchBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxBatchBytes:
		return nil, errors.New(v.text(batchTooLarge))
	case !utf8.Valid(data):
		return nil, errors.New(v.text(csvNotUTF8))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	c := csv.NewReader(bytes.NewReader(data))
	c.Comma = separatorOf(data)
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = c.Comma != '\t'
	head, err := c.Read()
	if err != nil {
		return nil, errors.New(v.text(batchNoHeader))
	}
	place := map[string]int{}
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := place[name]; twice || !slices.Contains(batchColumns, name) {
			return nil, errors.New(v.text(batchNoHeader))
		}
		place[name] = i
	}
	if _, ok := place["identity"]; !ok {
		return nil, errors.New(v.text(batchNoHeader))
	}
	if _, ok := place["person_type"]; !ok {
		return nil, errors.New(v.text(batchNoHeader))
	}
	var list []consentFlags
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		var fault *csv.ParseError
		if errors.As(err, &fault) { // its own text may quote the line
			return nil, errors.New(v.text(csvBadLine, fault.StartLine, v.text(csvBroken)))
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(strings.Join(record, "")) == "" {
			continue // what spreadsheets leave at the end
		}
		if line, _ := c.FieldPos(0); len(record) > len(head) {
			return nil, errors.New(v.text(batchColumnsOver, line, len(record), len(head)))
		}
		cell := func(name string) string {
			i, ok := place[name]
			if !ok || i >= len(record) {
				return ""
			}
			return unguardCell(strings.TrimSpace(record[i]))
		}
		list = append(list, consentFlags{cell("identity"), strings.ToUpper(cell("person_type")), cell("corporate_identity")})
	}
}

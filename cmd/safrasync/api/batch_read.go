package api

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// maxBatchBytes limits a list of producers; a hundred thousand fit.
const maxBatchBytes = 8 << 20

// batchColumns are the columns of a list of producers; the last one is optional.
var batchColumns = []string{"identity", "person_type", "corporate_identity"}

// readBatch reads a list of producers for `api consent --file`: CSV with a header, columns in any
// order. It does not check values: a producer with an invalid number becomes a line of the result
// like any other.
func readBatch(a *cli.App, file string) (list []consentFlags, err error) {
	in := a.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", file, a.Voice().FileReason(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	if list, err = readProducers(in, a.Voice()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

func readProducers(r io.Reader, v words.Voice) ([]consentFlags, error) {
	c, err := office.OpenCSV(r, maxBatchBytes, v)
	if err != nil {
		return nil, err
	}
	list := producerList{voice: v}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return list.finish()
		}
		var fault *csv.ParseError
		switch {
		case errors.As(err, &fault) && list.place == nil:
			return nil, errors.New(v.Text("batch.no_header"))
		case errors.As(err, &fault): // the error's own text may quote the line
			return nil, errors.New(v.Text("csv.bad_line", fault.StartLine, v.Text("csv.broken")))
		case err != nil:
			return nil, err
		}
		line, _ := c.FieldPos(0)
		if err := list.add(record, line); err != nil {
			return nil, err
		}
	}
}

// producerList collects the lines of a list; the first is the header.
type producerList struct {
	voice     words.Voice
	place     map[string]int // position of each column; nil before the header
	columns   int
	producers []consentFlags
}

func (l *producerList) finish() ([]consentFlags, error) {
	if l.place == nil {
		return nil, errors.New(l.voice.Text("batch.no_header"))
	}
	return l.producers, nil
}

func (l *producerList) add(record []string, line int) error {
	switch {
	case l.place == nil:
		return l.header(record)
	case strings.TrimSpace(strings.Join(record, "")) == "":
		return nil // spreadsheets leave empty lines at the end
	case len(record) > l.columns:
		return errors.New(l.voice.Text("batch.columns_over", line, len(record), l.columns))
	}
	cell := func(name string) string {
		i, ok := l.place[name]
		if !ok || i >= len(record) {
			return ""
		}
		return trade.UnguardFormula(strings.TrimSpace(record[i]))
	}
	l.producers = append(l.producers, consentFlags{
		cell("identity"), strings.ToUpper(cell("person_type")),
		cell("corporate_identity"),
	})
	return nil
}

func (l *producerList) header(record []string) error {
	place := map[string]int{}
	for i, name := range record {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := place[name]; twice || !slices.Contains(batchColumns, name) {
			return errors.New(l.voice.Text("batch.no_header"))
		}
		place[name] = i
	}
	for _, needed := range batchColumns[:2] {
		if _, ok := place[needed]; !ok {
			return errors.New(l.voice.Text("batch.no_header"))
		}
	}
	l.place, l.columns = place, len(record)
	return nil
}

// A report as JSON.

package reconcile

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// jsonWriter writes one object per line: the heading, then each row with the name of its section.
type jsonWriter struct {
	to      io.Writer
	section Section
	b       bytes.Buffer
}

// NewJSON returns a writer of a report as JSON lines (docs/json.md). Options.Lang should be
// English, as the names and texts of the JSON are.
func NewJSON(to io.Writer) Writer { return &jsonWriter{to: to} }

func (w *jsonWriter) Begin(h Heading) error {
	line := struct {
		Section string `json:"section"`
		Head
		Lines    []string `json:"lines"`
		Acts     *int     `json:"acts,omitempty"`     // omitted: they are sections
		Messages *int     `json:"messages,omitempty"` // the same
	}{Section: "heading", Head: h.Head, Lines: h.Lines}
	text, err := marshal(line)
	if err != nil {
		return err
	}
	_, err = w.to.Write(append(trade.MaskJSON(text), '\n'))
	return err
}

func (w *jsonWriter) Section(s Section) error {
	w.section = s
	return nil
}

func (w *jsonWriter) Row(cells []any) error {
	w.b.Reset()
	w.b.WriteString(`{"section":"` + string(w.section.ID) + `"`)
	for i, cell := range cells {
		var value any
		switch c := cell.(type) {
		case Label:
			if c.ID != "" {
				value = c.ID
			}
		case Day:
			if c != "" {
				value = string(c)
			}
		case time.Time:
			value = c.UTC()
		case string:
			if c != "" {
				value = c
			}
		default:
			value = cell
		}
		text, err := marshal(value)
		if err != nil {
			return err
		}
		w.b.WriteString(`,"` + w.section.Columns[i].ID + `":`)
		w.b.Write(text)
	}
	w.b.WriteString("}\n")
	_, err := w.to.Write(w.b.Bytes())
	return err
}

func (w *jsonWriter) End() error { return nil }

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return trade.EscapeJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

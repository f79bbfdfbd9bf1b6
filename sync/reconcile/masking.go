package reconcile

import "github.com/safrasync/safrasync/trade"

// maskingWriter masks the documents of persons in all texts of a report, whatever its form is.
type maskingWriter struct{ Writer }

func (w maskingWriter) Begin(h Heading) error {
	h.Lines = append([]string(nil), h.Lines...)
	for i, line := range h.Lines {
		h.Lines[i] = trade.MaskDocuments(line)
	}
	return w.Writer.Begin(h)
}

func (w maskingWriter) Row(cells []any) error {
	for i, cell := range cells {
		switch c := cell.(type) {
		case string:
			cells[i] = trade.MaskDocuments(c)
		case Label:
			cells[i] = Label{trade.MaskDocuments(c.ID), trade.MaskDocuments(c.Text)}
		}
	}
	return w.Writer.Row(cells)
}

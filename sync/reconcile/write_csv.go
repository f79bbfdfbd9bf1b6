// A report as CSV.

package reconcile

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// csvWriter writes the format that Excel in Brazil opens directly: a byte order mark, ; between
// cells, CRLF, a decimal comma, days as DD/MM/AAAA.
type csvWriter struct {
	to     io.Writer
	rows   *csv.Writer
	zone   *time.Location
	single bool // one section: only the table, without heading and titles
}

// NewCSV returns a writer of a report as CSV. With one section it writes only the table; with
// several it writes the heading first, and a title above each.
func NewCSV(to io.Writer, sections int) Writer {
	w := csv.NewWriter(to)
	w.Comma, w.UseCRLF = ';', true
	return &csvWriter{to: to, rows: w, single: sections == 1}
}

func (w *csvWriter) Begin(h Heading) error {
	w.zone = h.Zone
	if _, err := io.WriteString(w.to, "\ufeff"); err != nil {
		return phrase.Errorf("write the CSV: %w", err)
	}
	if w.single {
		return nil
	}
	for _, line := range append([]string{h.Title}, h.Lines...) {
		if err := w.rows.Write([]string{trade.GuardFormula(trade.Visible(line))}); err != nil {
			return phrase.Errorf("write the CSV: %w", err)
		}
	}
	return nil
}

func (w *csvWriter) Section(s Section) error {
	var errs []error
	if !w.single {
		errs = append(errs, w.rows.Write([]string{""}), w.rows.Write([]string{trade.GuardFormula(s.Title)}))
		if s.Note != "" {
			errs = append(errs, w.rows.Write([]string{trade.GuardFormula(s.Note)}))
		}
	}
	titles := trade.Map(s.Columns, func(c Column) string { return trade.GuardFormula(c.Title) })
	return errors.Join(append(errs, w.rows.Write(titles))...)
}

func (w *csvWriter) Row(cells []any) error {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch c := cell.(type) {
		case int:
			texts[i] = strconv.Itoa(c)
		case trade.Decimal:
			texts[i] = decimalText(c, trade.Portuguese)
		case Day:
			texts[i] = dayText(string(c), trade.Portuguese)
		case time.Time:
			texts[i] = c.In(w.zone).Format("02/01/2006 15:04:05")
		default:
			texts[i] = trade.GuardFormula(textOf(cell))
		}
	}
	return w.rows.Write(texts)
}

func (w *csvWriter) End() error {
	w.rows.Flush()
	return w.rows.Error()
}

// A report as CSV.

package reconcile

import (
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// csvWriter writes numbers with a decimal comma, and days as DD/MM/AAAA.
type csvWriter struct {
	to     io.Writer
	rows   workbook.CSV
	zone   *time.Location
	single bool // one section: only the table, without heading and titles
}

// NewCSV returns a writer of a report as CSV. With one section it writes only the table; with
// several it writes the heading first, and a title above each.
func NewCSV(to io.Writer, sections int) Writer { return &csvWriter{to: to, single: sections == 1} }

func (w *csvWriter) Begin(h Heading) (err error) {
	w.zone = h.Zone
	w.rows, err = workbook.BeginCSV(w.to)
	if err != nil || w.single {
		return err
	}
	for _, line := range append([]string{h.Title}, h.Lines...) {
		err = errors.Join(err, w.rows.Row([]string{line}))
	}
	return err
}

func (w *csvWriter) Section(s Section) error {
	var errs []error
	if !w.single {
		errs = append(errs, w.rows.Row([]string{""}), w.rows.Row([]string{s.Title}))
		if s.Note != "" {
			errs = append(errs, w.rows.Row([]string{s.Note}))
		}
	}
	titles := trade.Map(s.Columns, func(c Column) string { return c.Title })
	return errors.Join(append(errs, w.rows.Row(titles))...)
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
			texts[i] = textOf(cell)
		}
	}
	return w.rows.Row(texts)
}

func (w *csvWriter) End() error { return w.rows.Close() }

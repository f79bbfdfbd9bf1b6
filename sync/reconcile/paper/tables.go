// A report laid out as tables for a browser.

package paper

import (
	"slices"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Report is a report laid out for a browser.
type Report struct {
	reconcile.Heading
	reconcile.Overview
	Sections []Table

	most int
}

// Table is one table with its first rows.
type Table struct {
	Section
	Rows []Line
	More int // number of rows that only the files have
	// of divergences, what there is of each kind
	Kinds map[string]trade.Sums
}

// Read returns a report. Each section, or kind of divergence, has at most its first most rows; columns empty in
// all of them are left out.
func Read(s *reconcile.Snapshot, o reconcile.Options, most int) (*Report, error) {
	r := &Report{most: most}
	var err error
	r.Overview, err = s.Report(o, For(r))
	return r, err
}

// Begin implements Reader.
func (r *Report) Begin(h reconcile.Heading) error {
	r.Heading = h
	return nil
}

// Section implements Reader.
func (r *Report) Section(s Section) error {
	r.Sections = append(r.Sections, Table{Section: s, Kinds: map[string]trade.Sums{}})
	return nil
}

// Row implements Reader.
func (r *Report) Row(row Line) error {
	t := &r.Sections[len(r.Sections)-1]
	sums := t.Kinds[row.Names["kind"]]
	row.Sums.Rows = 1
	sums.Join(row.Sums)
	t.Kinds[row.Names["kind"]] = sums
	if sums.Rows <= r.most {
		t.Rows = append(t.Rows, row)
	} else {
		t.More++
	}
	return nil
}

// End implements Reader. It removes the columns in which no row has a text.
func (r *Report) End() error {
	for section := range r.Sections {
		t := &r.Sections[section]
		for i := len(t.Columns) - 1; i >= 0; i-- {
			if len(t.Rows) == 0 || slices.ContainsFunc(t.Rows, func(l Line) bool { return l.Cells[i].Text != "" }) {
				continue
			}
			t.Columns = slices.Delete(t.Columns, i, i+1)
			for n := range t.Rows {
				t.Rows[n].Cells = slices.Delete(t.Rows[n].Cells, i, i+1)
			}
		}
	}
	return nil
}

package commands

import (
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// reportShown is how many rows of a section a terminal shows; files are complete.
const reportShown = 40

// sectionTable prints a report on a terminal: the first rows of each section, without empty
// columns.
type sectionTable struct {
	app     *cli.App
	lang    trade.Lang
	zone    *time.Location
	section reconcile.Section
	rows    []table.Row
	n       int
	given   bool // a section has begun
}

func (t *sectionTable) Begin(h reconcile.Heading) error {
	t.zone = h.Zone
	t.app.Line(h.Title)
	for _, line := range h.Lines {
		t.app.Line("  " + line)
	}
	return nil
}

func (t *sectionTable) Section(s reconcile.Section) error {
	t.close()
	t.section, t.rows, t.n, t.given = s, nil, 0, true
	return nil
}

func (t *sectionTable) Row(cells []any) error {
	t.n++
	if t.n > reportShown {
		return nil
	}
	row := make([]any, len(cells))
	for i, cell := range cells {
		row[i] = t.section.Columns[i].Text(cell, t.lang, t.zone)
	}
	t.rows = append(t.rows, cli.Printable(row))
	return nil
}

func (t *sectionTable) close() {
	if !t.given {
		return
	}
	a := t.app
	a.Line("")
	a.Line(t.section.Title)
	if t.section.Note != "" {
		a.Line("  " + t.section.Note)
	}
	if t.n == 0 {
		a.Show("  nothing")
		return
	}
	head := make(table.Row, len(t.section.Columns))
	configs := make([]table.ColumnConfig, len(t.section.Columns))
	for i, c := range t.section.Columns {
		filled := func(row table.Row) bool { return fmt.Sprint(row[i]) != "" }
		head[i] = c.Title
		configs[i] = table.ColumnConfig{
			Number: i + 1, Hidden: !slices.ContainsFunc(t.rows, filled), WidthMax: 48,
			WidthMaxEnforcer: text.WrapSoft,
		}
		if c.Number() {
			configs[i].Align = text.AlignRight
		}
	}
	out := a.TableOf(head)
	out.SetColumnConfigs(configs)
	out.AppendRows(t.rows)
	out.Render()
	if t.n > reportShown {
		a.Show("  … the first %d of %d; all of them with --format xlsx or csv (--section %s)", reportShown, t.n, t.section.ID)
	}
}

func (t *sectionTable) End() error {
	t.close()
	return nil
}

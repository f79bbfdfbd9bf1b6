package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// importFlags are those of `safrasync refs import`.
type importFlags struct {
	actFlags
	skipInvalid bool
}

// planShown is how many lines of each kind a plan shows.
const planShown = 20

// importReferences imports a CSV, all or nothing and after showing what it would change.
func (a *App) importReferences(ctx context.Context, kind, file string, f importFlags) error {
	if err := a.checkKind(kind, toWrite); err != nil {
		return err
	}
	table, err := a.readCSV(file)
	if err != nil {
		return err
	}
	for i, bad := range table.bad {
		if i == planShown {
			a.tell("plan.more", len(table.bad)-i)
			break
		}
		a.tell("csv.bad_line", bad.Line, bad.Text)
	}
	if len(table.bad) > 0 && !f.skipInvalid {
		return errors.New(a.text("csv.refused", len(table.bad)))
	}
	old, err := a.readTable(ctx, kind)
	if err != nil {
		return err
	}
	var added, changed []trade.ReferenceChange
	for _, c := range state.ChangesOf(old, table.codes) {
		if c.From == nil {
			added = append(added, c)
		} else {
			changed = append(changed, c)
		}
	}
	unchanged := len(table.codes) - len(added) - len(changed)
	a.tellPlan(kind, added, changed, unchanged, table.labels)
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	renamed, err := tellRenames(ctx, a, store, kind, table)
	if err != nil {
		return err
	}
	if len(added)+len(changed)+renamed == 0 {
		return a.tellImported(kind, 0, 0, unchanged)
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	record, err := a.audit(f.actFlags, "refs import", kind, nil)
	if err != nil {
		return err
	}
	store, err = a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	n, m, err := store.ImportReferences(ctx, kind, table.codes, table.labels, record)
	if err != nil {
		return err
	}
	return a.tellImported(kind, n, m, len(table.codes)-n-m)
}

// renames counts the codes of a file that are there and get another label.
func (t referenceTable) renames(ctx context.Context, store *state.Store, kind string) (n int, err error) {
	if t.labels == nil {
		return 0, nil
	}
	lines, err := store.ListReferences(ctx, kind)
	for _, r := range lines {
		if label, ok := t.labels[r.Code]; ok && label != r.Label {
			n++
		}
	}
	return n, err
}

// tellRenames says how many labels a file changes.
func tellRenames(ctx context.Context, a *App, store *state.Store, kind string, t referenceTable) (int, error) {
	n, err := t.renames(ctx, store, kind)
	if n > 0 {
		a.tell("refs.would_label", n)
	}
	return n, err
}

// readCSV reads a file, or standard input for "-".
func (a *App) readCSV(file string) (table referenceTable, err error) {
	if file == "-" {
		return readReferences(a.Stdin, a.voice())
	}
	in, err := os.Open(file)
	if err != nil {
		return table, fmt.Errorf("%s: %s", file, plainReason(err))
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	table, err = readReferences(in, a.voice())
	if err != nil {
		return table, fmt.Errorf("%s: %w", file, err)
	}
	return table, nil
}

func (a *App) tellPlan(kind string, added, changed []trade.ReferenceChange, unchanged int,
	labels map[string]string,
) {
	shown := func(code string) string { return trade.Reference{Code: code, Label: labels[code]}.Shown() }
	a.tell("plan.title", kind, len(added), len(changed), unchanged)
	for i, c := range changed { // what is overwritten matters more than what is new
		if i == planShown {
			a.tell("plan.more", len(changed)-i)
			break
		}
		a.tell("refs.would_change", shown(c.Code), *c.From, *c.To)
	}
	for i, c := range added {
		if i == planShown {
			a.tell("plan.more", len(added)-i)
			break
		}
		a.tell("refs.would_add", shown(c.Code), *c.To)
	}
}

// exportReferences writes a table as CSV that spreadsheets open without harm and `refs import`
// reads again.
func (a *App) exportReferences(ctx context.Context, kind string) error {
	if err := a.checkKind(kind, toRead); err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	table, err := store.ListReferences(ctx, kind)
	if err != nil {
		return err
	}
	if a.asJSON {
		for _, r := range table {
			if err := a.printJSON(r); err != nil {
				return err
			}
		}
		return nil
	}
	return writeReferences(a.out, table)
}

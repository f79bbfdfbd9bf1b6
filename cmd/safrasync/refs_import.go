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
	a.tellPlan(kind, added, changed, unchanged)
	if len(added)+len(changed) == 0 {
		return a.tellImported(kind, 0, 0, unchanged)
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	record, err := a.audit(f.actFlags, "refs import", kind, nil)
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	n, m, err := store.ImportReferences(ctx, kind, table.codes, record)
	if err != nil {
		return err
	}
	return a.tellImported(kind, n, m, len(table.codes)-n-m)
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

func (a *App) tellPlan(kind string, added, changed []trade.ReferenceChange, unchanged int) {
	a.tell("plan.title", kind, len(added), len(changed), unchanged)
	for i, c := range changed { // what is overwritten matters more than what is new
		if i == planShown {
			a.tell("plan.more", len(changed)-i)
			break
		}
		a.tell("refs.would_change", c.Code, *c.From, *c.To)
	}
	for i, c := range added {
		if i == planShown {
			a.tell("plan.more", len(added)-i)
			break
		}
		a.tell("refs.would_add", c.Code, *c.To)
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

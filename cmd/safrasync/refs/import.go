package refs

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// importFlags are the flags of `safrasync refs import`.
type importFlags struct {
	cli.ActFlags
	skipInvalid bool
	layout      office.ReferenceLayout
}

// importReferences shows what a CSV would change, asks, and imports it: all or nothing, unless
// --skip-invalid is set.
func importReferences(ctx context.Context, a *cli.App, kind, file string, f importFlags) error {
	if err := checkKind(a, kind, cli.ToWrite); err != nil {
		return err
	}
	table, err := readCSV(a, file, f)
	if err != nil {
		return err
	}
	if table.LeftOut > 0 {
		a.Tell("csv.left_out", table.LeftOut, cli.Listed(f.layout.Where))
	}
	cli.TellPlan(a, table.Bad, func(bad office.BadLine) { a.Tell("csv.bad_line", bad.Line, bad.Text) })
	if len(table.Bad) > 0 && !f.skipInvalid {
		return errors.New(file + ": " + a.Text("csv.refused", len(table.Bad)))
	}
	old, err := readTable(ctx, a, kind)
	if err != nil {
		return err
	}
	var added, changed []trade.ReferenceChange
	for _, c := range state.ChangesOf(old, table.Codes) {
		if c.From == nil {
			added = append(added, c)
		} else {
			changed = append(changed, c)
		}
	}
	unchanged := len(table.Codes) - len(added) - len(changed)
	tellPlan(a, kind, added, changed, unchanged, table.Labels)
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	renamed, err := tellRenames(ctx, a, store, kind, table)
	if err != nil {
		return err
	}
	if len(added)+len(changed)+renamed == 0 {
		return tellImported(a, kind, 0, 0, unchanged)
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
	if err != nil {
		return err
	}
	n, m, err := o.SetReferences(ctx, kind, table.Codes, table.Labels, "refs import", a.Person(f.ActFlags))
	if err != nil {
		return err
	}
	return tellImported(a, kind, n, m, len(table.Codes)-n-m)
}

// tellRenames prints how many labels a file changes, and returns that number.
func tellRenames(ctx context.Context, a *cli.App, store *state.Store, kind string,
	t office.ReferenceTable,
) (int, error) {
	n, err := t.Renames(ctx, store, kind)
	if n > 0 {
		a.Tell("refs.would_label", n)
	}
	return n, err
}

// readCSV reads a file, or standard input for "-".
func readCSV(a *cli.App, file string, f importFlags) (table office.ReferenceTable, err error) {
	if key, args := f.layout.Fault(); key != "" {
		return table, a.Usage(key, args...)
	}
	if f.As == office.AsDocument { // --as is who imports
		return table, a.Usage("csv.layout_who")
	}
	if file == "-" {
		return office.ReadReferences(a.Stdin, f.layout, a.Voice())
	}
	in, err := os.Open(file)
	if err != nil {
		return table, fmt.Errorf("%s: %s", file, config.PlainReason(err))
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	table, err = office.ReadReferences(in, f.layout, a.Voice())
	if err != nil {
		return table, fmt.Errorf("%s: %w", file, err)
	}
	return table, nil
}

func tellPlan(a *cli.App, kind string, added, changed []trade.ReferenceChange, unchanged int,
	labels map[string]string,
) {
	shown := func(code string) string {
		return trade.MaskDocuments(trade.Reference{Code: code, Label: labels[code]}.Shown())
	}
	a.Tell("plan.title", kind, len(added), len(changed), unchanged)
	// overwritten ids matter more than new codes
	cli.TellPlan(a, changed, func(c trade.ReferenceChange) {
		a.Tell("refs.would_change", shown(c.Code), *c.From, *c.To)
	})
	cli.TellPlan(a, added, func(c trade.ReferenceChange) { a.Tell("refs.would_add", shown(c.Code), *c.To) })
}

// exportReferences writes a table as CSV that is safe to open in a spreadsheet and that `refs
// import` can read.
func exportReferences(ctx context.Context, a *cli.App, kind string) error {
	if err := checkKind(a, kind, cli.ToRead); err != nil {
		return err
	}
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	table, err := store.ListReferences(ctx, kind)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return cli.PrintEach(a, table, func(r trade.Reference) trade.Reference { return r })
	}
	return office.WriteReferences(a.Out, table)
}

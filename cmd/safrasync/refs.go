package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/trade"
)

func newRefsCommand(a *App) *cobra.Command {
	group := a.group("refs", "help.refs")

	list := a.command("list [KIND]", "help.refs_list", arity{0, 1}, func(cmd *cobra.Command, args []string) error {
		return a.listReferences(cmd.Context(), args)
	})

	var imported importFlags
	importing := a.command("import KIND FILE", "help.refs_import", exactly(2),
		func(cmd *cobra.Command, args []string) error {
			return a.importReferences(cmd.Context(), args[0], args[1], imported)
		})
	imported.add(importing)
	importing.Flags().BoolVar(&imported.skipInvalid, "skip-invalid", false,
		"import the other lines when some are invalid")

	export := a.command("export KIND", "help.refs_export", exactly(1), func(cmd *cobra.Command, args []string) error {
		return a.exportReferences(cmd.Context(), args[0])
	})

	var set actFlags
	setting := a.command("set KIND CODE ID --reason TEXT", "help.refs_set", exactly(3),
		func(cmd *cobra.Command, args []string) error {
			return a.setReference(cmd.Context(), args[0], args[1], args[2], set)
		})
	set.add(setting)

	var remove actFlags
	removing := a.command("remove KIND CODE --reason TEXT", "help.refs_remove", exactly(2),
		func(cmd *cobra.Command, args []string) error {
			return a.removeReference(cmd.Context(), args[0], args[1], remove)
		})
	remove.add(removing)

	group.AddCommand(list, importing, export, setting, removing)
	return group
}

// checkKind refuses what is no kind of reference, and, for changes, a kind that the next run would
// read from the ERP again.
func (a *App) checkKind(kind string, how access) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if !slices.Contains(trade.ReferenceKinds, kind) {
		return a.usage("refs.no_kind", kind, listed(trade.ReferenceKinds))
	}
	if _, fromERP := config.References[kind]; fromERP && how == toWrite {
		return a.usage("refs.from_erp", kind, kind)
	}
	return nil
}

// setReference stores one code.
func (a *App) setReference(ctx context.Context, kind, code, id string, f actFlags) error {
	if err := a.checkKind(kind, toWrite); err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	code = normalCode(code)
	parsed, err := trade.ParseID(id)
	if err != nil || isBlankCode(code) {
		return a.usage("refs.bad_line", code, id)
	}
	old, err := a.readTable(ctx, kind)
	if err != nil {
		return err
	}
	from, was := old[code]
	switch {
	case !was:
		a.tell("refs.would_add", code, parsed)
	case from == parsed:
		a.tell("refs.same", code)
		return nil
	default:
		a.tell("refs.would_change", code, from, parsed)
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	record, err := a.audit(f, "refs set", kind, nil)
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	added, changed, err := store.ImportReferences(ctx, kind, map[string]string{code: parsed}, record)
	if err != nil {
		return err
	}
	return a.tellImported(kind, added, changed, 0)
}

// removeReference takes one code out. Rows that need it wait from the next run on.
func (a *App) removeReference(ctx context.Context, kind, code string, f actFlags) error {
	if err := a.checkKind(kind, toWrite); err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	code = normalCode(code)
	old, err := a.readTable(ctx, kind)
	if err != nil {
		return err
	}
	from, was := old[code]
	if !was {
		return fmt.Errorf("%s", a.text("refs.not_there", kind, code))
	}
	a.tell("refs.would_remove", code, from)
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	record, err := a.audit(f, "refs remove", kind, nil)
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	removed, err := store.RemoveReferences(ctx, kind, []string{code}, record)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(struct {
			Kind    string `json:"kind"`
			Removed int    `json:"removed"`
		}{kind, removed})
	}
	a.show("refs.removed", kind, removed)
	return nil
}

// readTable reads one de-para table for a plan, which must not even make a ledger.
func (a *App) readTable(ctx context.Context, kind string) (map[string]string, error) {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return nil, err
	}
	all, _, err := store.References(ctx)
	return all[kind], err
}

func (a *App) tellImported(kind string, added, changed, unchanged int) error {
	if a.asJSON {
		return a.printJSON(struct {
			Kind      string `json:"kind"`
			Added     int    `json:"added"`
			Changed   int    `json:"changed"`
			Unchanged int    `json:"unchanged"`
		}{kind, added, changed, unchanged})
	}
	a.show("refs.done", kind, added, changed, unchanged)
	return nil
}

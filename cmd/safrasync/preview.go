package main

import (
	"context"
	"errors"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newPreviewCommand(a *App) *cobra.Command {
	var diff bool
	var f diffFlags
	cmd := a.command("preview JOB KEY | --diff [JOB…]", "help.preview", anyArgs,
		func(cmd *cobra.Command, args []string) error {
			switch {
			case diff:
				return a.previewDiff(cmd.Context(), args, f)
			case len(args) != 2:
				return a.usage("says.arguments", "safrasync preview JOB KEY | --diff [JOB…]")
			case f.askERP, f.all:
				return a.usage("diff.flags_clash")
			}
			return a.preview(cmd.Context(), args[0], args[1])
		})
	flags := cmd.Flags()
	flags.BoolVar(&diff, "diff", false,
		"map everything that was sent with the configuration of now, and tell what would differ")
	flags.BoolVar(&f.askERP, "erp", false,
		"with --diff: read columns that were not mapped then, and references, from the ERP")
	flags.BoolVar(&f.all, "all", false, "with --diff --json: rows that would be the same too")
	return cmd
}

// preview maps one row as the ERP has it now. It stores and sends nothing.
func (a *App) preview(ctx context.Context, job, key string) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if key, err = a.checkKey(config, job, key); err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	source, err := a.openERP(ctx)
	if err != nil {
		return err
	}
	e, err := a.openEngine(store, source, nil)
	if err != nil {
		return err
	}
	p, err := e.Preview(ctx, job, key)
	if errors.Is(err, engine.ErrNotInQuery) {
		return errors.New(a.text("preview.not_in_query", key, job, key))
	}
	if err != nil {
		return config.Annotate(err)
	}
	p = tidyPreview(p)
	if a.asJSON {
		return a.printJSON(p)
	}
	entry, err := store.Entry(ctx, job, key)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	a.printPreview(p, entry.State)
	return nil
}

// tidyPreview makes missing lists empty ones.
func tidyPreview(p engine.Preview) engine.Preview {
	p.Problems, p.WaitingFor = orEmpty(p.Problems), orEmpty(p.WaitingFor)
	for i := range p.Fields {
		p.Fields[i].Columns = orEmpty(p.Fields[i].Columns)
	}
	return p
}

// printPreview writes a preview for people; stands is the state that the ledger has for the row, ""
// for none.
func (a *App) printPreview(p engine.Preview, stands trade.State) {
	lang := a.lang()
	switch {
	case stands.Created():
		a.show("preview.sent", p.Job, p.Key, stands.Label(lang))
	case p.Cancelled:
		a.show("preview.cancelled", p.Job, p.Key)
	case p.State == trade.Pending:
		a.show("preview.goes", p.Job, p.Key)
	default:
		a.show("preview.stays", p.Job, p.Key, p.State.Label(lang))
	}
	if p.State == trade.Held {
		a.line("  - " + a.voice().own.Explain(p.State, p.Cause, lang).What)
	}
	for _, problem := range p.Problems {
		a.line("  - " + problem.Sentence(lang))
	}
	for _, text := range a.voice().awaited(p.WaitingFor) {
		a.line("  - " + text)
	}
	if len(p.Fields) == 0 {
		return
	}
	t := a.newTable("preview.head_field", "preview.head_value", "preview.head_column", "preview.head_erp",
		"preview.head_via")
	for _, f := range p.Fields {
		t.AppendRow(table.Row{f.Field, printable(f.Value), strings.Join(f.Columns, ", "), printable(f.ERP), f.Via})
	}
	t.Render()
	if len(p.Request) > 0 {
		a.show("preview.request", p.Path)
		a.printIndented(p.Request)
	}
}

package rows

import (
	"context"
	"errors"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/trade"
)

// NewPreviewCommand makes the command preview.
func NewPreviewCommand(a *cli.App) *cobra.Command {
	var diff bool
	var f diffFlags
	cmd := a.Command("preview JOB KEY | --diff [JOB…]", "help.preview", cli.AnyArgs,
		func(cmd *cobra.Command, args []string) error {
			switch {
			case diff:
				return previewDiff(cmd.Context(), a, args, f)
			case len(args) != 2:
				return a.Usage("says.arguments", "safrasync preview JOB KEY | --diff [JOB…]")
			case f.askERP, f.all:
				return a.Usage("diff.flags_clash")
			}
			return preview(cmd.Context(), a, args[0], args[1])
		})
	flags := cmd.Flags()
	flags.BoolVar(&diff, "diff", false,
		"map everything that was sent with the configuration of now, and tell what would differ")
	flags.BoolVar(&f.askERP, "erp", false,
		"with --diff: read columns that were not mapped then, and references, from the ERP")
	flags.BoolVar(&f.all, "all", false, "with --diff --json: rows that would be the same too")
	cmd.ValidArgsFunction = a.CompleteRows()
	return cmd
}

// preview maps one row as the ERP has it now. It stores and sends nothing.
func preview(ctx context.Context, a *cli.App, job, key string) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if key, err = a.CheckKey(config, job, key); err != nil {
		return err
	}
	e, err := cli.OpenReader(ctx, a, true)
	if err != nil {
		return err
	}
	p, err := e.Preview(ctx, job, key)
	if errors.Is(err, rehearse.ErrNotInQuery) {
		return errors.New(a.Text("preview.not_in_query", key, job, key))
	}
	if err != nil {
		return config.Annotate(err)
	}
	p = tidyPreview(p)
	if a.AsJSON {
		return a.PrintJSON(p)
	}
	entry, err := e.Store.Entry(ctx, job, key)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	printPreview(a, p, entry.State)
	return nil
}

// tidyPreview replaces nil lists by empty ones.
func tidyPreview(p rehearse.Preview) rehearse.Preview {
	p.Problems, p.WaitingFor = cli.OrEmpty(p.Problems), cli.OrEmpty(p.WaitingFor)
	for i := range p.Fields {
		p.Fields[i].Columns = cli.OrEmpty(p.Fields[i].Columns)
	}
	return p
}

// printPreview prints a preview for people. stands is the row's state in the ledger, or "" if it
// has none.
func printPreview(a *cli.App, p rehearse.Preview, stands trade.State) {
	lang, row := a.Lang(), a.Voice().Subject(p.Job, p.Key, p.Show)
	switch {
	case stands.Created():
		a.Show("preview.sent", row, stands.Label(lang))
	case p.Cancelled:
		a.Show("preview.cancelled", row)
	case p.State == trade.Pending:
		a.Show("preview.goes", row)
	default:
		a.Show("preview.stays", row, p.State.Label(lang))
	}
	if p.State == trade.Held {
		a.Line("  - " + a.Voice().Own.Explain(p.State, p.Cause, lang).What)
	}
	for _, problem := range p.Problems {
		a.Line("  - " + problem.Sentence(lang))
	}
	for _, text := range a.Voice().Awaited(p.WaitingFor) {
		a.Line("  - " + text)
	}
	if len(p.Fields) == 0 {
		return
	}
	t := a.NewTable("preview.head_field", "preview.head_value", "preview.head_column", "preview.head_erp",
		"preview.head_via")
	for _, f := range p.Fields {
		t.AppendRow(table.Row{
			f.Field, words.Printable(f.Value), strings.Join(f.Columns, ", "), words.Printable(f.ERP),
			a.Voice().Said(f.Via),
		})
	}
	t.Render()
	if len(p.Request) > 0 {
		a.Show("preview.request", p.Path)
		a.PrintIndented(p.Request)
	}
}

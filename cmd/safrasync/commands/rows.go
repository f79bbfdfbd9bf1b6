package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// rowsShown is how many rows are printed without --limit; --json prints all.
const rowsShown = 200

// rowsOfATable is the most rows of one table, which is in memory until the widths of its columns
// are known. Further rows go to further tables.
const rowsOfATable = 2000

// NewRowsCommand makes the command rows.
func NewRowsCommand(a *cli.App) *cobra.Command {
	var filter trade.RowQuery
	var states, flagged []string
	var since string
	var cmd *cobra.Command
	cmd = a.Command("rows [JOB]", "list the rows and the reason for their state", cli.Arity{Least: 0, Most: 1},
		func(ctx context.Context, args []string) error {
			if !cmd.Flags().Changed("limit") && !a.AsJSON {
				filter.Limit = rowsShown
			}
			filter.Key = mapping.CanonicalKey(filter.Key)
			if len(args) > 0 && args[0] != "" {
				filter.Jobs = args
			}
			config, err := a.LoadConfig()
			if err != nil {
				return err
			}
			filter.States, err = cli.ParseStates(a, states, trade.States)
			if err != nil {
				return err
			}
			for _, s := range flagged { // strictly: a typing error must not look like an empty list
				if !slices.Contains(trade.AllFlags, trade.Flag(s)) {
					return a.Usage("there is no flag %q; the flags are %s", s, cli.Listed(trade.AllFlags))
				}
				filter.Flags = append(filter.Flags, trade.Flag(s))
			}
			if filter.Limit < 0 {
				return a.Usage("--limit must not be negative")
			}
			if since != "" {
				var ok bool
				filter.From, ok = cli.ParseSince(since, office.Now(), config.Zone())
				if !ok {
					return a.Usage("--%s %q is neither an age (2h, 7d) nor a date (2026-11-21)", "since", since)
				}
			}
			err = listRows(ctx, a, filter)
			if errors.Is(err, trade.ErrNotFound) {
				return a.CheckJobNames(args...)
			}
			return err
		})
	flags := cmd.Flags()
	cli.AddStateFlag(a, cmd, &states, "only these `STATES`: %s", trade.States)
	cli.AddCauseFlag(a, cmd, &filter.Causes,
		"only these `CAUSES`, such as rule:price, ref:wallets, unknown or a message key of the API")
	flags.StringVar(&filter.Key, "key", "", "only this `KEY`, such as '01|000123'")
	flags.StringVar(&since, "since", "",
		"only what changed since `D`: 2h, 7d, 2026-11-21 or a time as in 2026-11-21T09:00:00Z")
	flags.StringSliceVar(&flagged, "flag", nil,
		a.Phrase("only with these `FLAGS`: %s", cli.Listed(trade.AllFlags)))
	flags.IntVar(&filter.Limit, "limit", 0, "at most `N` rows, 0 = all; default 200, with --json all")
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

func listRows(ctx context.Context, a *cli.App, filter trade.RowQuery) error {
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return o.Rows(ctx, filter, func(e trade.Entry) error { return a.PrintJSON(o.Row(e)) })
	}
	limit := filter.Limit
	if limit > 0 {
		filter.Limit++ // one more shows whether there are more
	}
	begin := func() table.Writer {
		t := a.NewTable("Job", "rows.head_shown", "Key", "State",
			"Reason", "Platform id", "Updated")
		t.SetColumnConfigs([]table.ColumnConfig{
			{Number: 1, Hidden: len(filter.Jobs) > 0},
			{Number: 2, Hidden: !a.Config.Shows(cmp.Or(filter.Jobs...)), WidthMax: 50, WidthMaxEnforcer: text.WrapSoft},
			{Number: 5, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft},
		})
		return t
	}
	t, n, v := begin(), 0, a.Voice()
	err = o.Rows(ctx, filter, func(e trade.Entry) error {
		n++
		if limit > 0 && n > limit {
			return nil
		}
		if t.Length() == rowsOfATable {
			t.Render()
			t = begin()
		}
		t.AppendRow(cli.Printable([]any{
			v.Job(e.Job), e.Shown.Masked().Line(), e.Key, e.State.Label(v.Lang), v.Reason(e),
			cli.Plain(e.RemoteID), v.Moment(e.UpdatedAt),
		}))
		return nil
	})
	if err != nil {
		return err
	}
	if n == 0 {
		a.Tell("no rows")
		return nil
	}
	t.Render()
	if limit > 0 && n > limit {
		a.Tell("the first %d are shown; there are more: use --limit N, --limit 0 or --json", limit)
	}
	return nil
}

package maintenance

import (
	"context"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// purgeFlags are the flags of purge.
type purgeFlags struct {
	cli.ActFlags
	kinds    []string
	before   string
	producer string
	export   string
}

// NewPurgeCommand makes the command purge.
func NewPurgeCommand(a *cli.App) *cobra.Command {
	var f purgeFlags
	cmd := a.Command("purge --reason TEXT", "remove data that is no longer needed, or data about one producer", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		config, err := a.LoadConfig()
		if err != nil {
			return err
		}
		if f.producer != "" {
			if len(f.kinds) > 0 || f.before != "" {
				return a.Usage("--producer cannot be combined with --kind or --before")
			}
			return purgeProducer(ctx, a, f)
		}
		if f.export != "" {
			return a.Usage("--export requires --producer")
		}
		at := office.Now()
		keep := config.Retention.Ledger()
		for _, kind := range f.kinds {
			if !slices.Contains(state.RetentionKinds, kind) {
				return a.Usage("there is no kind %s; the kinds are %s", kind, cli.Listed(state.RetentionKinds))
			}
		}
		if f.before != "" {
			before, ok := cli.ParseSince(f.before, at, config.Zone())
			if !ok || !before.Before(at) {
				return a.Usage("--%s %q is neither an age (2h, 7d) nor a date (2026-11-21)", "before", f.before)
			}
			age := at.Sub(before)
			keep.Bodies, keep.Runs, keep.IdleRuns, keep.Lookups, keep.Inbox = age, age, age, age, age
			keep.Kinds = purgeableByAge
		}
		if len(f.kinds) > 0 {
			keep.Kinds = f.kinds
		}
		o, err := a.Office(ctx, cli.ToWrite, cli.NoERP) // the journal's size is known only if opened for writing
		if err != nil {
			return err
		}
		plan, err := o.PlanRetention(ctx, keep, at)
		if err != nil {
			return err
		}
		a.Tell("To be removed from the ledger:")
		t, v := table.NewWriter(), a.Voice()
		t.SetOutputMirror(a.Stderr)
		t.SetStyle(table.StyleLight)
		t.AppendHeader(table.Row{
			a.Text("what"), a.Text("from before"), a.Text("records"),
			a.Text("approx. bytes"), a.Text("kept, still needed"),
		})
		for _, k := range plan {
			if len(f.kinds) > 0 && !slices.Contains(f.kinds, k.Kind) {
				continue
			}
			before := "-"
			if k.Before != nil {
				before = v.Moment(*k.Before)
			}
			t.AppendRow(table.Row{a.Text("purge.kind." + k.Kind), before, k.Rows, k.Bytes, k.Kept})
		}
		t.Render()
		a.Tell("Keys, platform ids, states, times and hashes are always kept: they prevent a second sending.")
		if plan.Empty() {
			a.Tell("There is nothing to do.")
			return tellPurged(a, plan, false)
		}
		if err := a.Confirmed(f.ActFlags); err != nil {
			return err
		}
		plan, err = o.Purge(ctx, keep, at, a.Person(f.ActFlags))
		if err != nil {
			return err
		}
		return tellPurged(a, plan, true)
	})
	f.Add(cmd)
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil,
		a.Phrase("only these `KINDS`: %s", cli.Listed(state.RetentionKinds)))
	cmd.Flags().StringVar(&f.before, "before", "",
		"instead of what retention: says, what is older than `D`: 90d, 2026-01-31; for bodies, runs, lookups and inbox")
	cmd.Flags().StringVar(&f.producer, "producer", "",
		"what is held about one producer: the platform's `ID`, or the ERP's code")
	cmd.Flags().StringVar(&f.export, "export", "",
		"with --producer: write it to `FILE`, as JSON, and to FILE.txt for people; nothing is removed")
	cli.Completes(a, cmd, "kind", state.RetentionKinds)
	return cmd
}

// purgeableByAge lists the kinds to which --before applies.
var purgeableByAge = []string{state.KeptBodies, state.KeptRuns, state.KeptLookups, state.KeptInbox}

// purgeJSON is the --json output of purge: one object for each kind.
type purgeJSON struct {
	state.Retained
	Done bool `json:"done"`
}

func tellPurged(a *cli.App, plan state.RetentionPlan, done bool) error {
	if !a.AsJSON {
		if done {
			a.Show("Done.")
		}
		return nil
	}
	return cli.PrintEach(a, trade.Map(plan, func(k state.Retained) purgeJSON { return purgeJSON{k, done && k.Rows > 0} }))
}

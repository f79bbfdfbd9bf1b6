package care

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// NewRebuildCommand makes the command rebuild.
func NewRebuildCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var fresh bool
	cmd := a.Command("rebuild --reason TEXT", "help.rebuild", cli.Exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			if fresh {
				return newJournal(cmd.Context(), a, f)
			}
			return rebuild(cmd.Context(), a, f)
		})
	f.Add(cmd)
	cmd.Flags().BoolVar(&fresh, "new-journal", false,
		"begin a new journal for this ledger: its own is lost, or it moved to another host")
	return cmd
}

// rebuild adds to the ledger what its journal knows, after showing it.
func rebuild(ctx context.Context, a *cli.App, f cli.ActFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	options := a.LedgerOptions(config, cli.ToWrite)
	plan, err := state.Rebuild(ctx, options, false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	tellRebuild(a, plan)
	if err := a.Confirmed(f); err != nil {
		return err
	}
	record, err := a.Audit(f, "rebuild", "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = state.Rebuild(ctx, options, true, record); err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(plan)
	}
	a.Show("rebuild.done", plan.Rows())
	return nil
}

func tellRebuild(a *cli.App, plan state.RebuildPlan) {
	a.Tell("rebuild.from", plan.Journal, plan.Records, a.Voice().Moment(plan.Until))
	if plan.Damaged != "" {
		a.Tell("rebuild.damaged", plan.Damaged)
	}
	if plan.Absent {
		a.Tell("rebuild.makes_anew")
	}
	for _, job := range plan.Paused {
		a.Tell("rebuild.paused", job)
	}
	if len(plan.Changes)+len(plan.Paused) == 0 {
		a.Tell("rebuild.nothing")
	}
	for _, c := range plan.Changes {
		from := a.Text("rebuild.absent")
		if c.From != "" {
			from = c.From.Label(a.Lang())
		}
		if c.From == c.To {
			a.Tell("rebuild.added", c.Rows, c.Job, from)
			continue
		}
		a.Tell("rebuild.change", c.Rows, c.Job, from, c.To.Label(a.Lang()))
	}
	if plan.Same > 0 {
		a.Tell("rebuild.same", plan.Same)
	}
}

// newJournal begins a new journal for a ledger whose own is lost.
func newJournal(ctx context.Context, a *cli.App, f cli.ActFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	options := a.LedgerOptions(config, cli.ToWrite)
	plan, err := state.NewJournal(ctx, options, false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	a.Tell("journal.plan", plan.Journal, plan.Sent, plan.Doubts)
	if plan.Aside != "" {
		a.Tell("journal.aside")
	}
	a.Tell("journal.warn")
	if err := a.Confirmed(f); err != nil {
		return err
	}
	record, err := a.Audit(f, "new journal", "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = state.NewJournal(ctx, options, true, record); err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(plan)
	}
	a.Show("journal.done", plan.Journal)
	return nil
}

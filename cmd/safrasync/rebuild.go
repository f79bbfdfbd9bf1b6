package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func newRebuildCommand(a *App) *cobra.Command {
	var f actFlags
	var fresh bool
	cmd := a.command("rebuild --reason TEXT", "help.rebuild", exactly(0), func(cmd *cobra.Command, _ []string) error {
		if fresh {
			return a.newJournal(cmd.Context(), f)
		}
		return a.rebuild(cmd.Context(), f)
	})
	f.add(cmd)
	cmd.Flags().BoolVar(&fresh, "new-journal", false,
		"begin a new journal for this ledger: its own is lost, or it moved to another host")
	return cmd
}

// rebuild adds to the ledger what its journal knows, after showing it.
func (a *App) rebuild(ctx context.Context, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	options := a.ledgerOptions(config, toWrite)
	plan, err := state.Rebuild(ctx, options, false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	a.tellRebuild(plan)
	if err := a.confirmed(f); err != nil {
		return err
	}
	record, err := a.audit(f, "rebuild", "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = state.Rebuild(ctx, options, true, record); err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(plan)
	}
	a.show("rebuild.done", plan.Rows())
	return nil
}

func (a *App) tellRebuild(plan state.RebuildPlan) {
	a.tell("rebuild.from", plan.Journal, plan.Records, a.voice().moment(plan.Until))
	if plan.Damaged != "" {
		a.tell("rebuild.damaged", plan.Damaged)
	}
	if plan.Absent {
		a.tell("rebuild.makes_anew")
	}
	for _, job := range plan.Paused {
		a.tell("rebuild.paused", job)
	}
	if len(plan.Changes)+len(plan.Paused) == 0 {
		a.tell("rebuild.nothing")
	}
	for _, c := range plan.Changes {
		from := a.text("rebuild.absent")
		if c.From != "" {
			from = c.From.Label(a.lang())
		}
		if c.From == c.To {
			a.tell("rebuild.added", c.Rows, c.Job, from)
			continue
		}
		a.tell("rebuild.change", c.Rows, c.Job, from, c.To.Label(a.lang()))
	}
	if plan.Same > 0 {
		a.tell("rebuild.same", plan.Same)
	}
}

// newJournal begins a new journal for a ledger whose own is lost.
func (a *App) newJournal(ctx context.Context, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	options := a.ledgerOptions(config, toWrite)
	plan, err := state.NewJournal(ctx, options, false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	a.tell("journal.plan", plan.Journal, plan.Sent, plan.Doubts)
	if plan.Aside != "" {
		a.tell("journal.aside")
	}
	a.tell("journal.warn")
	if err := a.confirmed(f); err != nil {
		return err
	}
	record, err := a.audit(f, "new journal", "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = state.NewJournal(ctx, options, true, record); err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(plan)
	}
	a.show("journal.done", plan.Journal)
	return nil
}

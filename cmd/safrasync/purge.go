package main

import (
	"context"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
)

// purgeFlags are those of purge.
type purgeFlags struct {
	actFlags
	kinds    []string
	before   string
	producer string
	export   string
}

func newPurgeCommand(a *App) *cobra.Command {
	var f purgeFlags
	cmd := a.command("purge --reason TEXT", "help.purge", exactly(0), func(cmd *cobra.Command, _ []string) error {
		return a.purge(cmd.Context(), f)
	})
	f.add(cmd)
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only these `KINDS`: "+listed(state.RetentionKinds))
	cmd.Flags().StringVar(&f.before, "before", "",
		"instead of what retention: says, what is older than `D`: 90d, 2026-01-31; for bodies, runs, lookups and inbox")
	cmd.Flags().StringVar(&f.producer, "producer", "",
		"what is held about one producer: the platform's `ID`, or the ERP's code")
	cmd.Flags().StringVar(&f.export, "export", "",
		"with --producer: write it to `FILE`, as JSON, and to FILE.txt for people; nothing is taken away")
	completes(cmd, "kind", state.RetentionKinds)
	return cmd
}

// purgeable by age are the kinds that --before is for.
var purgeableByAge = []string{state.KeptBodies, state.KeptRuns, state.KeptLookups, state.KeptInbox}

// purge takes away now what the retention would take away by its schedule.
func (a *App) purge(ctx context.Context, f purgeFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if f.producer != "" {
		if len(f.kinds) > 0 || f.before != "" {
			return a.usage("purge.one_or_other")
		}
		return a.purgeProducer(ctx, config, f)
	}
	if f.export != "" {
		return a.usage("purge.export_needs")
	}
	at := now()
	keep, err := a.purged(config, f, at)
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite) // the journal's size is known only where it is open
	if err != nil {
		return err
	}
	plan, err := store.PlanRetention(ctx, keep, at)
	if err != nil {
		return err
	}
	a.tellPurge(plan, f)
	if plan.Empty() {
		a.tell("act.nothing")
		return a.tellPurged(plan, false)
	}
	if err := a.confirmed(f.actFlags); err != nil {
		return err
	}
	record, err := a.audit(f.actFlags, state.ActPurge, "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = store.Retain(ctx, keep, at, record); err != nil {
		return err
	}
	return a.tellPurged(plan, true)
}

// purged is the retention that a person orders.
func (a *App) purged(config *Config, f purgeFlags, at time.Time) (state.Retention, error) {
	keep := config.Retention.ledger()
	for _, kind := range f.kinds {
		if !slices.Contains(state.RetentionKinds, kind) {
			return keep, a.usage("purge.no_kind", kind, listed(state.RetentionKinds))
		}
	}
	if f.before != "" {
		before, ok := parseSince(f.before, at, config.Zone())
		if !ok || !before.Before(at) {
			return keep, a.usage("says.since", f.before)
		}
		age := at.Sub(before)
		keep.Bodies, keep.Runs, keep.IdleRuns, keep.Lookups, keep.Inbox = age, age, age, age, age
		if len(f.kinds) == 0 {
			f.kinds = purgeableByAge
		}
	}
	if len(f.kinds) > 0 {
		keep.Kinds = f.kinds
	}
	return keep, nil
}

func (a *App) tellPurge(plan state.RetentionPlan, f purgeFlags) {
	a.tell("purge.plan")
	t, v := table.NewWriter(), a.voice()
	t.SetOutputMirror(a.Stderr)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{
		a.text("purge.head_kind"), a.text("purge.head_before"), a.text("purge.head_rows"),
		a.text("purge.head_bytes"), a.text("purge.head_kept"),
	})
	for _, k := range plan {
		if len(f.kinds) > 0 && !slices.Contains(f.kinds, k.Kind) {
			continue
		}
		before := "-"
		if k.Before != nil {
			before = v.moment(*k.Before)
		}
		t.AppendRow(table.Row{a.text(i18n.Key("purge.kind." + k.Kind)), before, k.Rows, k.Bytes, k.Kept})
	}
	t.Render()
	a.tell("purge.never")
}

// purgeJSON is what purge says: one object a kind.
type purgeJSON struct {
	state.Retained
	Done bool `json:"done"`
}

func (a *App) tellPurged(plan state.RetentionPlan, done bool) error {
	if !a.asJSON {
		if done {
			a.show("purge.done")
		}
		return nil
	}
	for _, k := range plan {
		if err := a.printJSON(purgeJSON{k, done && k.Rows > 0}); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/reconcile"
)

func newDecisionsCommand(a *App) *cobra.Command {
	group := a.group("decisions", "help.decisions")
	var f actFlags
	var skip bool
	importing := a.command("import FILE", "help.decisions_import", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			return a.importDecisions(cmd.Context(), args[0], f, skip)
		})
	importing.Flags().StringVar(&f.as, "as", "",
		"`NAME` of who decided, recorded as given beside the account; default: who logged in")
	importing.Flags().BoolVar(&f.yes, "yes", false, "do it without asking")
	importing.Flags().BoolVar(&skip, "skip-refused", false, "do the others when some rows are wrong, stale or refused")
	group.AddCommand(importing)
	return group
}

// importDecisions plans what a file of decisions orders, shows it, and does it through the same
// acts as the commands for single rows. All or nothing, unless skip.
func (a *App) importDecisions(ctx context.Context, file string, f actFlags, skip bool) error {
	if _, err := a.loadConfig(); err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return a.usage("decisions.file", file, a.voice().fileReason(err))
	}
	defer in.Close() //nolint:errcheck // it was only read
	list, faults, err := reconcile.ReadDecisions(in, a.lang())
	if err != nil {
		return a.usage("decisions.file", file, err)
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	if err := a.readyToAdopt(ctx, acts, list); err != nil {
		return err
	}
	plans, refused, err := reconcile.PlanDecisions(ctx, acts, list)
	if err != nil {
		return err
	}
	wrong := a.tellFaults(faults, refused)
	count := 0
	for _, p := range plans {
		count += len(p.Plan.Steps)
		a.tell("decisions.group", reconcile.ActWord(p.Plan.Act, a.lang()), p.Plan.Job, len(p.Plan.Steps), p.Reason)
		for i, s := range p.Plan.Steps {
			if i == planShown {
				a.tell("plan.more", len(p.Plan.Steps)-i)
				break
			}
			a.tellStep(p.Plan, s)
		}
	}
	switch {
	case wrong > 0 && !skip:
		a.tell("decisions.nothing_done", wrong)
		return &exitError{exitFailed}
	case count == 0:
		a.tell("act.nothing")
		if wrong > 0 {
			return &exitError{exitFailed}
		}
		return nil
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	return a.doDecisions(ctx, acts, plans, f, wrong)
}

// readyToAdopt gives the acts what an adoption needs, when there is one.
func (a *App) readyToAdopt(ctx context.Context, acts *engine.Acts, list []reconcile.Decision) error {
	for _, d := range list {
		if d.Act != "adopt" && d.Act != "adopt-no-id" {
			continue
		}
		client, err := a.openAPI()
		if err != nil {
			return err
		}
		acts.Platform = newPacedReader(client, a.config.API.RateLimit)
		acts.Rows, err = a.remapper(ctx)
		return err
	}
	return nil
}

// tellFaults names each row that is not taken, with its line, its column and why; it counts them.
func (a *App) tellFaults(faults []reconcile.Fault, refused []reconcile.Refused) int {
	for _, w := range faults {
		if w.Column == "" {
			a.tell("decisions.line", w.Line, w.Text)
			continue
		}
		a.tell("decisions.cell", w.Line, w.Column, w.Text)
	}
	for _, r := range refused {
		why := a.text(refusalOf(r.Refusal))
		switch {
		case r.OneByOne:
			why = a.text("decisions.one_by_one", r.Act)
		case r.Refusal == engine.Moved:
			why = a.text("decisions.stale")
		}
		a.tell("decisions.line", r.Line,
			fmt.Sprintf("%s %s: %s: %s", r.Job, r.Key, reconcile.ActWord(r.Act, a.lang()), why))
	}
	return len(faults) + len(refused)
}

// doDecisions does what the plans show.
func (a *App) doDecisions(ctx context.Context, planned *engine.Acts, plans []reconcile.Planned, f actFlags,
	wrong int,
) error {
	acts, err := a.openActs(ctx, toWrite)
	if err != nil {
		return err
	}
	acts.Platform, acts.Rows = planned.Platform, planned.Rows
	failed := wrong > 0
	for _, p := range plans {
		f.reason = p.Reason
		done, err := acts.Do(ctx, p.Plan, a.person(f))
		if err != nil {
			a.tell("act.partly")
			return err
		}
		for _, s := range done.Steps {
			failed = failed || !s.Done
			switch {
			case a.asJSON:
				if err := a.printJSON(rowActOf(done, s)); err != nil {
					return err
				}
			case s.Done:
				a.show("act.done", done.Job, s.Key)
			default:
				a.show("act.refused", done.Job, s.Key, a.text(refusalOf(s.Refused)))
			}
		}
	}
	if failed {
		return &exitError{exitFailed}
	}
	return nil
}

package commands

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
)

// doDecisions plans what a file of decisions orders, shows the plan, and does it with the same acts as the
// commands for single rows. It does all or nothing, unless skip is set.
func doDecisions(ctx context.Context, a *cli.App, file string, f cli.ActFlags, skip bool) error {
	if _, err := a.LoadConfig(); err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return a.Usage("%s: %v", file, a.Voice().FileReason(err))
	}
	defer in.Close() //nolint:errcheck // it was only read
	list, faults, err := reconcile.ReadDecisions(ctx, in, workbook.UnpackedHere, a.Lang())
	if err != nil {
		return a.Usage("%s: %v", file, err)
	}
	use := cli.NoERP
	adopts := func(d reconcile.Decision) bool { return strings.HasPrefix(d.Act, acts.ActAdopt) }
	if slices.ContainsFunc(list, adopts) {
		use = cli.ERPIfThere
	}
	o, err := a.Office(ctx, cli.ToRead, use)
	if err != nil {
		return err
	}
	plans, refused, err := o.PlanDecisions(ctx, list)
	if err != nil {
		return err
	}
	for _, w := range faults {
		if w.Column == "" {
			a.Tell("line %d: %s", w.Line, w.Text)
			continue
		}
		a.Tell("line %d, column %s: %s", w.Line, w.Column, w.Text)
	}
	for _, r := range refused {
		why := a.Text(refusalOf(r.Refusal))
		switch {
		case r.OneByOne:
			why = a.Text("cannot be decided in bulk, because it could duplicate or hide a record: use `safrasync %s` for this row", r.Act)
		case r.Refusal == acts.Moved:
			why = a.Text("the row has changed since the file was exported; export again")
		}
		a.Tell("line %d: %s", r.Line,
			fmt.Sprintf("%s %s: %s: %s", r.Job, r.Key, reconcile.ActWord(r.Act, a.Lang()), why))
	}
	wrong := len(faults) + len(refused)
	count := 0
	for _, p := range plans {
		count += len(p.Plan.Steps)
		a.Tell("%s in %s: %d {row|rows}; reason: %s", reconcile.ActWord(p.Plan.Act, a.Lang()), p.Plan.Job,
			len(p.Plan.Steps), p.Reason)
		printSteps(a, p.Plan)
	}
	switch {
	case wrong > 0 && !skip:
		a.Tell("%d {row is|rows are} wrong: nothing was done. Correct the file, or use --skip-refused to process the other rows.", wrong)
		return cli.ErrFailed
	case count == 0:
		a.Tell("There is nothing to do.")
		return cli.FailedIf(wrong > 0)
	}
	o, err = a.ConfirmedOffice(ctx, f.Yes)
	if err != nil {
		return err
	}
	failed := wrong > 0
	for _, p := range plans {
		f.Reason = p.Reason
		done, err := o.DoShown(ctx, p.Plan, a.Person(f))
		if err != nil {
			a.Tell("Some of the rows are already done; repeat the command for the rest.")
			return err
		}
		if done.Asked != nil {
			if err := cli.PrintAsked(a, *done.Asked); err != nil {
				return err
			}
			continue
		}
		wrong, err := printDone(a, done)
		if err != nil {
			return err
		}
		failed = failed || wrong
	}
	return cli.FailedIf(failed)
}

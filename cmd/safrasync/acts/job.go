package acts

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// jobCommand makes the command for an act on a job.
func jobCommand(a *cli.App, kind engineacts.Act) *cobra.Command {
	var f cli.ActFlags
	checked := false
	cmd := a.Command(kind.Name+" JOB --reason TEXT", "help."+kind.Name, cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			job := args[0]
			if err := a.CheckJobNames(job); err != nil {
				return err
			}
			if err := a.NeedReason(f); err != nil {
				return err
			}
			how := cli.ToRead
			if kind.Sure {
				how = cli.ToWrite
			}
			o, err := a.Office(ctx, how, cli.NoERP)
			if err != nil {
				return err
			}
			plan, err := o.PlanJob(ctx, engineacts.Order{Act: kind.Name, Job: job, Checked: checked}, a.Person(f))
			if err != nil || plan.Refused != engineacts.NotRefused {
				return errors.Join(err, tellJob(a, plan))
			}
			if !kind.Sure {
				tellRelease(a, plan)
				if plan.Unchecked() { // it would be refused: nobody is asked
					plan.Refused = engineacts.NotChecked
					return tellJob(a, plan)
				}
				o, err = a.ConfirmedOffice(ctx, f.Yes)
				if err != nil {
					return err
				}
			}
			plan, err = o.DoJob(ctx, plan, a.Person(f))
			if err != nil {
				return err
			}
			if plan.Asked != nil {
				return cli.TellAsked(a, *plan.Asked)
			}
			return tellJob(a, plan)
		})
	f.Add(cmd) // --yes also where nothing is asked: a script that adds it must not end here
	if kind.Checked {
		cmd.Flags().BoolVar(&checked, "checked", false, checkedUsage)
	}
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

// tellRelease prints what a release lets pass, and what is known to exist of it.
func tellRelease(a *cli.App, plan engineacts.JobPlan) {
	a.Tell("Release job %s:", plan.Job)
	if plan.Release.Brake != nil {
		a.Tell("  brake: %s", a.Voice().Stop(*plan.Before.Stop))
	}
	if len(plan.Release.Also) > 0 {
		a.Tell("  with it, for the same reason: %s", strings.Join(plan.Release.Also, ", "))
	}
	if plan.Release.Stop != nil {
		a.Tell("  stop: %s", a.Voice().Stop(*plan.Release.Stop))
	}
	if s := plan.Release.Sweep; s != nil {
		a.Tell("  sweep: the next one counts, although it finds only about %d of the known rows; the others are flagged as missing from the ERP", s.Found)
	}
	for _, line := range a.Voice().Exists(plan.Release.Exists) {
		a.Tell("  %s", line)
	}
}

// tellJob prints what became of a plan. It returns an error if nothing was done.
func tellJob(a *cli.App, plan engineacts.JobPlan) error {
	ok := plan.Refused == engineacts.NotRefused
	plan.Done, plan.State = ok, plan.Before.State
	if ok {
		plan.State = plan.After.State
	}
	switch {
	case a.AsJSON:
		if err := a.PrintJSON(plan); err != nil {
			return err
		}
	case ok && plan.Act == engineacts.ActRelease && plan.After.State == trade.Paused:
		a.Show("%[1]s: released; the job stays paused by a person (`safrasync resume %[1]s`).", plan.Job)
	case ok:
		a.Show("act.ended."+plan.Act, plan.Job)
	default:
		a.Tell("%s: not possible: %s", plan.Act+" "+plan.Job, a.Text("refusal."+string(plan.Refused)))
	}
	return cli.FailedIf(!ok)
}

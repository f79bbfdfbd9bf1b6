package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// jobCommand makes the command for an act on a job.
func jobCommand(a *cli.App, kind acts.Act) *cobra.Command {
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
			plan, err := o.PlanJob(ctx, acts.Order{Act: kind.Name, Job: job, Checked: checked}, a.Person(f))
			if err != nil || plan.Refused != acts.NotRefused {
				return errors.Join(err, printJob(a, plan))
			}
			if !kind.Sure {
				printRelease(a, plan)
				if plan.Unchecked() { // it would be refused: nobody is asked
					plan.Refused = acts.NotChecked
					return printJob(a, plan)
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
				return cli.PrintAsked(a, *plan.Asked)
			}
			return printJob(a, plan)
		})
	f.Add(cmd) // --yes also where nothing is asked: a script that adds it must not end here
	if kind.Checked {
		cmd.Flags().BoolVar(&checked, "checked", false, checkedUsage)
	}
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

// printRelease prints what a release lets pass, and what is known to exist of it.
func printRelease(a *cli.App, plan acts.JobPlan) {
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

// printJob prints what became of a plan. It returns an error if nothing was done.
func printJob(a *cli.App, plan acts.JobPlan) error {
	ok := plan.Refused == acts.NotRefused
	plan.Done, plan.State = ok, plan.Before.State
	if ok {
		plan.State = plan.After.State
	}
	switch {
	case a.AsJSON:
		if err := a.PrintJSON(plan); err != nil {
			return err
		}
	case ok && plan.Act == acts.ActRelease && plan.After.State == trade.Paused:
		a.Show("%[1]s: released; the job stays paused by a person (`safrasync resume %[1]s`).", plan.Job)
	case ok:
		a.Show("act.ended."+plan.Act, plan.Job)
	default:
		a.Tell("%s: not possible: %s", plan.Act+" "+plan.Job, a.Text("refusal."+string(plan.Refused)))
	}
	return cli.FailedIf(!ok)
}

// NewJobCommand makes the commands about the jobs themselves.
func NewJobCommand(a *cli.App) *cobra.Command {
	group := a.Group("job", "jobs that were renamed")
	var f cli.ActFlags
	// It shows what moving a job's entries to another job means, asks, and does it.
	cmd := a.Command("move OLD NEW --reason TEXT", "move the rows of job OLD, which is no longer configured, to NEW: the same job under another name", cli.Exactly(2),
		func(ctx context.Context, args []string) error {
			from, to := args[0], args[1]
			o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
			if err != nil {
				return err
			}
			plan, err := o.PlanMove(ctx, from, to)
			if err != nil {
				return err
			}
			if plan.Refused == acts.NotRefused {
				var states []string
				for _, s := range trade.States {
					if n := plan.States[s]; n > 0 {
						states = append(states, fmt.Sprintf("%d %s", n, s.Label(a.Lang())))
					}
				}
				a.Tell("%d {row moves|rows move} from job %s to job %s: %s", plan.Entries, from, to, strings.Join(states, ", "))
				if plan.Paused {
					a.Tell("  job %s is paused afterwards", to)
				}
				if err := a.Confirmed(f); err != nil {
					return err
				}
				plan, err = o.Move(ctx, plan, a.Person(f))
				if err != nil {
					return err
				}
			}
			switch {
			case a.AsJSON:
				if err := a.PrintJSON(plan); err != nil {
					return err
				}
			case plan.Refused != acts.NotRefused:
				a.Tell("%s: not possible: %s", acts.ActMove+" "+plan.From+" "+plan.To,
					a.Text("refusal."+string(plan.Refused)))
			default:
				a.Show("%d {row|rows} moved from job %s to job %s; the next run compares everything (`safrasync sync %s`).", plan.Entries, plan.From, plan.To, plan.To)
			}
			return cli.FailedIf(plan.Refused != acts.NotRefused)
		})
	f.Add(cmd)
	cmd.ValidArgsFunction = a.CompleteEveryJob
	group.AddCommand(cmd)
	return group
}

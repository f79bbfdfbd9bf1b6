package acts

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewPauseCommand makes the command pause.
func NewPauseCommand(a *cli.App) *cobra.Command {
	return jobCommand(a, "pause JOB --reason TEXT", "help.pause",
		func(ctx context.Context, job string, f cli.ActFlags) error {
			if strings.TrimSpace(f.Reason) == "" {
				return a.Usage("act.no_note")
			}
			return actOnJob(ctx, a, job, f,
				func(acts *engineacts.Acts) (engineacts.JobPlan, error) { return acts.Pause(ctx, job, a.Person(f)) },
				"pause.done")
		})
}

// NewResumeCommand makes the command resume.
func NewResumeCommand(a *cli.App) *cobra.Command {
	return jobCommand(a, "resume JOB --reason TEXT", "help.resume",
		func(ctx context.Context, job string, f cli.ActFlags) error {
			if err := a.NeedReason(f); err != nil {
				return err
			}
			return actOnJob(ctx, a, job, f,
				func(acts *engineacts.Acts) (engineacts.JobPlan, error) { return acts.Resume(ctx, job) },
				"resume.done")
		})
}

// jobCommand makes a command that asks no question, because the act sends nothing that a person has
// not seen.
func jobCommand(a *cli.App, use string, short i18n.Key,
	run func(ctx context.Context, job string, f cli.ActFlags) error,
) *cobra.Command {
	var f cli.ActFlags
	cmd := a.Command(use, short, cli.Exactly(1), func(cmd *cobra.Command, args []string) error {
		if err := checkKnownJob(a, args[0]); err != nil {
			return err
		}
		return run(cmd.Context(), args[0], f)
	})
	f.Add(cmd) // --yes too, as its neighbours have it: a script that adds it must not end here
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

// NewReleaseCommand makes the command release.
func NewReleaseCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var checked bool
	cmd := a.Command("release JOB --reason TEXT", "help.release", cli.Exactly(1),
		func(cmd *cobra.Command, args []string) error {
			if err := checkKnownJob(a, args[0]); err != nil {
				return err
			}
			return release(cmd.Context(), a, args[0], f, checked)
		})
	f.Add(cmd)
	cmd.Flags().BoolVar(&checked, "checked", false,
		"for rows that may double, as the plan says: I have checked that the platform does not have their record")
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

func checkKnownJob(a *cli.App, job string) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	return a.CheckJobNames(config, []string{job})
}

// actOnJob plans and does an act on a job without asking.
func actOnJob(ctx context.Context, a *cli.App, job string, f cli.ActFlags,
	plan func(*engineacts.Acts) (engineacts.JobPlan, error),
	done i18n.Key,
) error {
	acts, err := a.OpenActs(ctx, cli.ToWrite)
	if err != nil {
		return err
	}
	p, err := plan(acts)
	if err == nil && p.Refused == engineacts.NotRefused {
		p, err = acts.DoJob(ctx, p, a.Person(f))
	}
	if err != nil {
		return err
	}
	return tellJob(a, p, func() {
		if strings.Count(a.Text(done), "%s") == 2 {
			a.Show(done, job, job)
			return
		}
		a.Show(done, job)
	})
}

// release shows what a brake found, asks, and lets the job continue.
func release(ctx context.Context, a *cli.App, job string, f cli.ActFlags, checked bool) error {
	if err := a.NeedReason(f); err != nil {
		return err
	}
	acts, err := a.OpenActs(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	plan, err := acts.Release(ctx, job)
	if err != nil {
		return err
	}
	plan.Checked = checked
	if plan.Refused == engineacts.NotRefused {
		tellRelease(a, plan)
		if plan.Unchecked() { // it would be refused: nobody is asked
			plan.Refused = engineacts.NotChecked
			return tellJob(a, plan, nil)
		}
		if err := a.Confirm(f.Yes); err != nil {
			return err
		}
		if acts, err = a.OpenActs(ctx, cli.ToWrite); err != nil {
			return err
		}
		if plan, err = acts.DoJob(ctx, plan, a.Person(f)); err != nil {
			return err
		}
		if plan.Asked != nil {
			return cli.TellAsked(a, *plan.Asked)
		}
	}
	return tellJob(a, plan, func() {
		if plan.After.State == trade.Paused {
			a.Show("release.paused", job, job)
			return
		}
		a.Show("release.end", job, job)
	})
}

// tellRelease prints what a release lets pass, and what is known to exist of it.
func tellRelease(a *cli.App, plan engineacts.JobPlan) {
	a.Tell("release.do", plan.Job)
	if plan.Release.Brake != nil {
		a.Tell("release.go", a.Voice().Stop(*plan.Before.Stop))
	}
	if plan.Release.Stop != nil {
		a.Tell("release.stop", a.Voice().Stop(*plan.Release.Stop))
	}
	if s := plan.Release.Sweep; s != nil {
		a.Tell("release.big", s.Found)
	}
	for _, line := range a.Voice().Exists(plan.Release.Exists) {
		a.Tell("act.line", line)
	}
}

// jobActJSON is what an act on a job prints with --json.
type jobActJSON struct {
	Act     string              `json:"act"`
	Job     string              `json:"job"`
	Done    bool                `json:"done"`
	Refused *string             `json:"refused"` // why not; null if it was done
	Before  trade.JobStatus     `json:"before"`
	State   trade.JobState      `json:"state"` // the job's state now
	Release *engineacts.Release `json:"release,omitempty"`
}

func tellJob(a *cli.App, plan engineacts.JobPlan, done func()) error {
	ok := plan.Refused == engineacts.NotRefused
	state := plan.Before.State
	if ok {
		state = plan.After.State
	}
	switch {
	case a.AsJSON:
		err := a.PrintJSON(jobActJSON{
			plan.Act, plan.Job, ok, cli.OrNull(string(plan.Refused)), plan.Before, state,
			plan.Release,
		})
		if err != nil {
			return err
		}
	case ok:
		done()
	default:
		a.Tell("act.refused", plan.Act+" "+plan.Job, a.Text(i18n.Key("refusal."+string(plan.Refused))))
	}
	if !ok {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

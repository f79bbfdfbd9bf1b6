package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newPauseCommand(a *App) *cobra.Command {
	return a.jobCommand("pause JOB --reason TEXT", "help.pause",
		func(ctx context.Context, job string, f actFlags) error {
			if strings.TrimSpace(f.reason) == "" {
				return a.usage("act.no_note")
			}
			return a.actOnJob(ctx, job, f,
				func(acts *engine.Acts) (engine.JobPlan, error) { return acts.Pause(ctx, job, a.person(f)) },
				"pause.done")
		})
}

func newResumeCommand(a *App) *cobra.Command {
	return a.jobCommand("resume JOB --reason TEXT", "help.resume",
		func(ctx context.Context, job string, f actFlags) error {
			if err := a.needReason(f); err != nil {
				return err
			}
			return a.actOnJob(ctx, job, f,
				func(acts *engine.Acts) (engine.JobPlan, error) { return acts.Resume(ctx, job) },
				"resume.done")
		})
}

// jobCommand makes a command that is done without a question: it lets nothing leave that a person
// has not seen.
func (a *App) jobCommand(use string, short i18n.Key,
	run func(ctx context.Context, job string, f actFlags) error,
) *cobra.Command {
	var f actFlags
	cmd := a.command(use, short, exactly(1), func(cmd *cobra.Command, args []string) error {
		if err := a.checkKnownJob(args[0]); err != nil {
			return err
		}
		return run(cmd.Context(), args[0], f)
	})
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, `TEXT` for the audit and for others")
	cmd.Flags().StringVar(&f.reason, "note", "", "the same as --reason `TEXT`")
	cmd.Flags().StringVar(&f.as, "as", "",
		"`NAME` of who orders it, recorded as given beside the account; default: who logged in")
	cmd.ValidArgsFunction = a.completeJobs
	return cmd
}

func newReleaseCommand(a *App) *cobra.Command {
	var f actFlags
	cmd := a.command("release JOB --reason TEXT", "help.release", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			if err := a.checkKnownJob(args[0]); err != nil {
				return err
			}
			return a.release(cmd.Context(), args[0], f)
		})
	f.add(cmd)
	cmd.ValidArgsFunction = a.completeJobs
	return cmd
}

func (a *App) checkKnownJob(job string) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	return a.checkJobNames(config, []string{job})
}

// actOnJob plans and does an act on a job that needs no question.
func (a *App) actOnJob(ctx context.Context, job string, f actFlags, plan func(*engine.Acts) (engine.JobPlan, error),
	done i18n.Key,
) error {
	acts, err := a.openActs(ctx, toWrite)
	if err != nil {
		return err
	}
	p, err := plan(acts)
	if err == nil && p.Refused == engine.NotRefused {
		p, err = acts.DoJob(ctx, p, a.person(f))
	}
	if err != nil {
		return err
	}
	return a.tellJob(p, func() {
		if strings.Count(a.text(done), "%s") == 2 {
			a.show(done, job, job)
			return
		}
		a.show(done, job)
	})
}

// release shows what a brake has seen, asks, and lets the job go on.
func (a *App) release(ctx context.Context, job string, f actFlags) error {
	if err := a.needReason(f); err != nil {
		return err
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	plan, err := acts.Release(ctx, job)
	if err != nil {
		return err
	}
	if plan.Refused == engine.NotRefused {
		a.tell("release.do", job)
		if plan.Release.Brake != nil {
			a.tell("release.go", a.voice().stop(*plan.Before.Stop))
		}
		if plan.Release.Stop != nil {
			a.tell("release.stop", a.voice().stop(*plan.Release.Stop))
		}
		if s := plan.Release.Sweep; s != nil {
			a.tell("release.big", s.Found)
		}
		if err := a.confirm(f.yes); err != nil {
			return err
		}
		if acts, err = a.openActs(ctx, toWrite); err != nil {
			return err
		}
		if plan, err = acts.DoJob(ctx, plan, a.person(f)); err != nil {
			return err
		}
	}
	return a.tellJob(plan, func() { a.show("release.end", job, job) })
}

// jobActJSON is what an act on a job says.
type jobActJSON struct {
	Act     string          `json:"act"`
	Job     string          `json:"job"`
	Done    bool            `json:"done"`
	Refused *string         `json:"refused"` // why not; null when it was done
	Before  trade.JobStatus `json:"before"`
	State   trade.JobState  `json:"state"` // where the job stands
	Release *engine.Release `json:"release,omitempty"`
}

func (a *App) tellJob(plan engine.JobPlan, done func()) error {
	ok := plan.Refused == engine.NotRefused
	state := plan.Before.State
	if ok {
		state = plan.After.State
	}
	switch {
	case a.asJSON:
		err := a.printJSON(jobActJSON{
			plan.Act, plan.Job, ok, orNull(string(plan.Refused)), plan.Before, state,
			plan.Release,
		})
		if err != nil {
			return err
		}
	case ok:
		done()
	default:
		a.tell("act.refused", plan.Act+" "+plan.Job, a.text(i18n.Key("refusal."+string(plan.Refused))))
	}
	if !ok {
		return &exitError{exitFailed}
	}
	return nil
}

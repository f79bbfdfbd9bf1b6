package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// syncFlags are those of `safrasync sync`.
type syncFlags struct{ sweep, dryRun, strict, anyHour bool }

func newSyncCommand(a *App) *cobra.Command {
	var f syncFlags
	cmd := a.command("sync [JOB…]", helpSync, anyArgs, func(cmd *cobra.Command, args []string) error {
		return a.sync(cmd.Context(), args, f)
	})
	cmd.ValidArgsFunction = a.completeEveryJob
	flags := cmd.Flags()
	flags.BoolVar(&f.sweep, "sweep", false, "compare everything in scope, although no sweep is due")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read, map and check; cannot write or send")
	flags.BoolVar(&f.anyHour, "any-hour", false, "send outside the hours of a job too")
	flags.BoolVar(&f.strict, "strict", false, "exit with 3 when rows need attention")
	flags.BoolVar(&a.verbose, "verbose", false, "log what happens to standard error, as JSON lines")
	return cmd
}

// sync makes one pass and reports it. The report is complete also when a job stopped.
func (a *App) sync(ctx context.Context, jobs []string, f syncFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.checkJobNames(config, jobs); err != nil {
		return err
	}
	how := toWrite
	if f.dryRun {
		how = toRead
	}
	store, err := a.openLedger(ctx, how)
	if err != nil {
		return errors.Join(err, a.printRefused(err))
	}
	source, _ := a.openSource(ctx) // an ERP that is not reached is a stop of each job, recorded and reported as one
	watcher := a.watch()
	e, err := a.openEngine(store, source, watcher.observe)
	if err != nil {
		watcher.close()
		return err
	}
	opts := engine.Options{Sweep: f.sweep, DryRun: f.dryRun, AnyHour: f.anyHour}
	var planned plans
	if f.dryRun {
		planned = newPlans(config.JobSpecs())
		opts.Planned = planned.add
	}
	reports, err := e.Sync(ctx, jobs, opts)
	watcher.close()
	// A run that was interrupted is reported like any other.
	if printErr := a.printSync(context.WithoutCancel(ctx), store, reports, f, planned); printErr != nil {
		return errors.Join(err, printErr)
	}
	return syncResult(reports, err, f.strict)
}

// syncResult turns reports into an exit code: a stop weighs more than a job that another process runs, and that more than rows for people.
func syncResult(reports []trade.RunReport, err error, strict bool) error {
	attention := false
	for _, r := range reports {
		if r.Stopped != nil {
			return errors.Join(&exitError{exitFailed}, err)
		}
		attention = attention || r.NeedsPerson()
	}
	if err == nil && strict && attention {
		return &exitError{exitAttention}
	}
	return err
}

// printRefused reports, for --json, a ledger that cannot be used: nothing was read and nothing was sent.
func (a *App) printRefused(err error) error {
	var ledger *state.Error
	if !a.asJSON || !errors.As(err, &ledger) {
		return nil
	}
	return a.printJSON(struct {
		Runs    []trade.RunReport `json:"runs"`
		Stopped trade.Stop        `json:"stopped"`
	}{[]trade.RunReport{}, trade.Stop{Code: stopOfLedger(ledger.Code), Text: ledger.Error()}})
}

// stopOfLedger is a stop code of a ledger that cannot be used: ledger_rolled_back of state-rolled-back.
func stopOfLedger(code string) string {
	return "ledger_" + strings.ReplaceAll(strings.TrimPrefix(code, "state-"), "-", "_")
}

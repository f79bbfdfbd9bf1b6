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
type syncFlags struct {
	sweep, dryRun, strict, anyHour bool
	limit                          int
}

func newSyncCommand(a *App) *cobra.Command {
	var f syncFlags
	cmd := a.command("sync [JOB… | JOB KEY…]", "help.sync", anyArgs, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("limit") && f.limit < 1 {
			return a.usage("sync.limit_low")
		}
		return a.sync(cmd.Context(), args, f)
	})
	cmd.Long = a.text("help.sync_long")
	cmd.ValidArgsFunction = a.completeEveryJob
	flags := cmd.Flags()
	flags.BoolVar(&f.sweep, "sweep", false, "compare everything in scope, although no sweep is due")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read, map and check; cannot write or send")
	flags.BoolVar(&f.anyHour, "any-hour", false, "send outside the hours of a job too")
	flags.IntVar(&f.limit, "limit", 0, "send at most `N` rows of each job; the others stay pending")
	flags.BoolVar(&f.strict, "strict", false, "exit with 3 when rows need attention")
	flags.BoolVar(&a.verbose, "verbose", false, "log what happens to standard error, as JSON lines")
	return cmd
}

// syncWhat takes the arguments apart: names of jobs, or one and the keys of some of its rows.
func (a *App) syncWhat(config *Config, args []string) (jobs, keys []string, err error) {
	if len(args) < 2 || a.checkJobNames(config, args[:2]) == nil {
		return args, nil, a.checkJobNames(config, args)
	}
	for _, arg := range args[1:] {
		key, err := a.checkKey(config, args[0], arg)
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, key)
	}
	return args[:1], keys, nil
}

// sync makes one pass and reports it. The report is complete also when a job stopped.
func (a *App) sync(ctx context.Context, args []string, f syncFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	jobs, keys, err := a.syncWhat(config, args)
	switch {
	case err != nil:
		return err
	case f.dryRun && (f.limit > 0 || keys != nil):
		return a.usage("sync.dry_part")
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
	opts := engine.Options{Sweep: f.sweep, DryRun: f.dryRun, AnyHour: f.anyHour, Limit: f.limit}
	if keys != nil {
		opts.Keys = map[string][]string{jobs[0]: keys}
	}
	var planned plans
	if f.dryRun {
		planned = newPlans(config.JobSpecs())
		opts.Planned = planned.add
	}
	reports, err := e.Sync(ctx, jobs, opts)
	watcher.close()
	// A run that was interrupted is reported like any other.
	rows, missed, rowsErr := rowsNamed(context.WithoutCancel(ctx), store, jobs, keys)
	if printErr := a.printSync(context.WithoutCancel(ctx), store, reports, f, planned, rows); printErr != nil ||
		rowsErr != nil {
		return errors.Join(err, printErr, rowsErr)
	}
	for _, key := range missed {
		a.tell("sync.no_key", jobs[0], key, jobs[0], key)
	}
	if err == nil && len(missed) > 0 {
		err = &exitError{exitFailed}
	}
	return syncResult(reports, err, f.strict)
}

// rowsNamed are the rows with the keys that were named, and the keys of which the ledger has none.
func rowsNamed(ctx context.Context, store *state.Store, jobs,
	keys []string,
) (rows []trade.Entry, missed []string, err error) {
	for _, key := range keys {
		e, err := store.Entry(ctx, jobs[0], key)
		switch {
		case errors.Is(err, state.ErrNotFound):
			missed = append(missed, key)
		case err != nil:
			return nil, nil, err
		default:
			rows = append(rows, e)
		}
	}
	return rows, missed, nil
}

// syncResult turns reports into an exit code: a stop weighs more than a job that another process
// runs, and that more than rows for people.
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

// printRefused reports, for --json, a ledger that cannot be used: nothing was read and nothing was
// sent.
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

// stopOfLedger is a stop code of a ledger that cannot be used: ledger_rolled_back of
// state-rolled-back.
func stopOfLedger(code string) string {
	return "ledger_" + strings.ReplaceAll(strings.TrimPrefix(code, "state-"), "-", "_")
}

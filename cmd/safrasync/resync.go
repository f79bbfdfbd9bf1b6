package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// resyncFlags are those of `safrasync resync`.
type resyncFlags struct {
	actFlags
	since, file  string
	keys, states []string
}

func newResyncCommand(a *App) *cobra.Command {
	var f resyncFlags
	cmd := a.command("resync JOB --reason TEXT", "help.resync", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			return a.resync(cmd.Context(), args[0], f)
		})
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only rows that changed in the ERP since `D`: 7d, 2026-11-21, 21/11/2026")
	flags.StringArrayVar(&f.keys, "key", nil, "only the row with this `KEY`; may be repeated")
	flags.StringVar(&f.file, "file", "", "only the rows whose keys stand in `FILE`, one a line; - is standard input")
	flags.StringSliceVar(&f.states, "state", nil, "only rows in these `STATES`: "+listed(trade.States))
	flags.BoolVar(&a.verbose, "verbose", false, "log what happens to standard error, as JSON lines")
	completes(cmd, "state", trade.States)
	cmd.ValidArgsFunction = a.completeJobs
	return cmd
}

// resync shows what a new reading would change, asks, and makes a pass over one job that judges its
// rows again.
func (a *App) resync(ctx context.Context, job string, f resyncFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.checkJobNames(config, []string{job}); err != nil {
		return err
	}
	if err := a.needReason(f.actFlags); err != nil {
		return err
	}
	wanted, err := a.resyncOf(config, job, f)
	if err != nil {
		return err
	}
	source, err := a.openSource(ctx)
	if err != nil {
		return err
	}
	plan, err := a.planResync(ctx, job, wanted, source)
	if err != nil {
		return err
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	record, err := a.audit(f.actFlags, "resync", job, struct {
		Since  string         `json:"since,omitempty"`
		Keys   []string       `json:"keys,omitempty"`
		States []trade.State  `json:"states,omitempty"`
		Plan   map[string]int `json:"plan"`
	}{f.since, wanted.Keys, wanted.States, plan})
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	if err := store.AppendAudit(ctx, record); err != nil {
		return err
	}
	watcher := a.watch()
	e, err := a.openEngine(store, source, watcher.observe)
	if err != nil {
		watcher.close()
		return err
	}
	reports, err := e.Sync(ctx, []string{job}, engine.Options{Resync: &wanted})
	watcher.close()
	if printErr := a.printSync(context.WithoutCancel(ctx), store, reports, syncFlags{}, nil, nil); printErr != nil {
		return errors.Join(err, printErr)
	}
	return syncResult(reports, err, false)
}

// planResync tells what a new reading would change, without changing anything.
func (a *App) planResync(ctx context.Context, job string, wanted engine.Resync,
	source engine.Source,
) (map[string]int, error) {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return nil, err
	}
	e, err := a.openEngine(store, source, nil)
	if err != nil {
		return nil, err
	}
	plan := map[string]int{}
	reports, err := e.Sync(ctx, []string{job},
		engine.Options{DryRun: true, Resync: &wanted, Planned: func(entry trade.Entry) { plan[string(entry.State)]++ }})
	if err != nil {
		return nil, err
	}
	r := reports[0]
	if r.Stopped != nil {
		return nil, errors.New(a.voice().stop(*r.Stopped))
	}
	a.tell("resync.plan", job, r.Read, r.New, r.Changed)
	for _, s := range trade.States {
		if n := plan[string(s)]; n > 0 {
			a.tell("resync.state", n, s.Label(a.voice().lang))
		}
	}
	for _, note := range r.Notes {
		a.tell("act.line", note)
	}
	a.tell("resync.never")
	return plan, nil
}

// resyncOf reads which rows are asked for.
func (a *App) resyncOf(config *Config, job string, f resyncFlags) (engine.Resync, error) {
	var out engine.Resync
	if f.since != "" {
		since, ok := parseSince(f.since, now(), config.Zone())
		if !ok {
			return out, a.usage("says.since", f.since)
		}
		out.Since = since.In(config.Zone())
		for _, j := range config.Jobs {
			if j.Name == job && j.ChangedAt == "" {
				return out, a.usage("resync.no_change", job)
			}
		}
	}
	for _, s := range f.states {
		if !slices.Contains(trade.States, trade.State(s)) {
			return out, a.usage("says.no_state", s, listed(trade.States))
		}
		out.States = append(out.States, trade.State(s))
	}
	keys, err := a.keysOf(config, job, f.keys)
	if err != nil {
		return out, err
	}
	if f.file != "" {
		fromFile, err := a.readKeys(config, job, f.file)
		if err != nil {
			return out, err
		}
		keys = append(keys, fromFile...)
	}
	if len(f.keys) > 0 || f.file != "" {
		slices.Sort(keys)
		out.Keys = slices.Compact(keys)
	}
	return out, nil
}

// readKeys reads the keys of a file, one a line; blank lines do not count.
func (a *App) readKeys(config *Config, job, file string) (keys []string, err error) {
	in := io.NopCloser(a.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", file, plainReason(err))
		}
		in = f
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" {
			continue
		}
		key, err := a.checkKey(config, job, text)
		if err != nil {
			a.tell("resync.line", file, n)
			return nil, err
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(keys) == 0 {
		return nil, a.usage("resync.empty", file)
	}
	return keys, nil
}

package runs

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

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// resyncFlags are the flags of `safrasync resync`.
type resyncFlags struct {
	cli.ActFlags
	since, file  string
	keys, states []string
}

// NewResyncCommand makes the command resync.
func NewResyncCommand(a *cli.App) *cobra.Command {
	var f resyncFlags
	cmd := a.Command("resync JOB --reason TEXT", "help.resync", cli.Exactly(1),
		func(cmd *cobra.Command, args []string) error {
			return resync(cmd.Context(), a, args[0], f)
		})
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only rows that changed in the ERP since `D`: 7d, 2026-11-21, 21/11/2026")
	flags.StringArrayVar(&f.keys, "key", nil, "only the row with this `KEY`; may be repeated")
	flags.StringVar(&f.file, "file", "", "only the rows whose keys are in `FILE`, one per line; - is standard input")
	cli.TakesStates(a, cmd, &f.states, "only rows in these `STATES`: ", trade.States)
	flags.BoolVar(&a.Verbose, "verbose", false, "log what happens to standard error, as JSON lines")
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

// resync shows what a resync would change, asks, and makes a pass over one job that evaluates its
// rows again.
func resync(ctx context.Context, a *cli.App, job string, f resyncFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if err := a.CheckJobNames(config, []string{job}); err != nil {
		return err
	}
	if err := a.NeedReason(f.ActFlags); err != nil {
		return err
	}
	wanted, err := resyncOf(a, config, job, f)
	if err != nil {
		return err
	}
	source, err := a.OpenSource(ctx)
	if err != nil {
		return err
	}
	plan, err := planResync(ctx, a, job, wanted, source)
	if err != nil {
		return err
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	acts, err := a.OpenActs(ctx, cli.ToWrite)
	if err != nil {
		return err
	}
	order := engineacts.Order{
		Act: engineacts.ActResync, Job: job, Keys: wanted.Keys, States: wanted.States, Since: wanted.Since,
	}
	who := a.Person(f.ActFlags)
	planned := engineacts.Planned{Order: order}
	for _, n := range plan {
		planned.Rows += n
	}
	asked, err := acts.Ask(ctx, planned, engineacts.MarkOf(order, plan), who, 0)
	if err != nil {
		return err
	}
	if asked != nil {
		return cli.TellAsked(a, *asked)
	}
	return runResync(ctx, a, source, order, plan, who)
}

// runResync records a resync in the audit, and then reads the job again.
func runResync(ctx context.Context, a *cli.App, source run.Source, o engineacts.Order, plan map[string]int,
	who engineacts.Person,
) error {
	job, wanted := o.Job, office.ResyncOf(o)
	record, err := office.ResyncRecord(o, plan, who)
	if err != nil {
		return err
	}
	store, err := a.OpenLedger(ctx, cli.ToWrite)
	if err != nil {
		return err
	}
	if err := store.AppendAudit(ctx, record); err != nil {
		return err
	}
	watcher := a.Watch()
	e, err := a.OpenEngine(store, source, watcher.Observe)
	if err != nil {
		watcher.Close()
		return err
	}
	reports, err := e.Sync(ctx, []string{job}, engine.Options{Resync: &wanted})
	watcher.Close()
	if printErr := PrintSync(context.WithoutCancel(ctx), a, store, reports, SyncFlags{}, nil, nil); printErr != nil {
		return errors.Join(err, printErr)
	}
	return syncResult(reports, err, false)
}

// Approvable returns the act with which an ordered resync is approved on the command line.
func Approvable(a *cli.App) engineacts.OtherAct {
	plan := func(ctx context.Context, o engineacts.Order) (map[string]int, run.Source, error) {
		source, err := a.OpenSource(ctx)
		if err != nil {
			return nil, nil, err
		}
		plan, err := planResync(ctx, a, o.Job, office.ResyncOf(o), source)
		return plan, source, err
	}
	return engineacts.OtherAct{
		Mark: func(ctx context.Context, o engineacts.Order) (string, error) {
			plan, _, err := plan(ctx, o)
			return engineacts.MarkOf(o, plan), err
		},
		Do: func(ctx context.Context, o engineacts.Order, mark string, who engineacts.Person) (bool, error) {
			plan, source, err := plan(ctx, o)
			if err != nil || engineacts.MarkOf(o, plan) != mark {
				return false, err
			}
			return true, runResync(ctx, a, source, o, plan, who)
		},
	}
}

// planResync prints and returns what a resync would change. It changes nothing.
func planResync(ctx context.Context, a *cli.App, job string, wanted discovery.Resync,
	source run.Source,
) (map[string]int, error) {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return nil, err
	}
	e, err := a.OpenEngine(store, source, nil)
	if err != nil {
		return nil, err
	}
	var rows []trade.Entry // the first few
	plan, r, err := office.PlanResync(ctx, e.Engine, a.Voice(), job, wanted, func(entry trade.Entry) {
		if len(rows) < resyncShown {
			rows = append(rows, entry)
		}
	})
	if err != nil {
		return nil, err
	}
	a.Tell("resync.plan", job, r.Read, r.New, r.Changed)
	for _, s := range trade.States {
		if n := plan[string(s)]; n > 0 {
			a.Tell("resync.state", n, s.Label(a.Voice().Lang))
		}
	}
	if len(rows) < resyncShown {
		if err := tellKnown(ctx, a, store, rows); err != nil {
			return nil, err
		}
	}
	for _, note := range r.Notes {
		a.Tell("act.line", a.Voice().Said(note))
	}
	a.Tell("resync.never")
	return plan, nil
}

// resyncShown is the number of rows from which a plan shows sums only.
const resyncShown = 20

// tellKnown prints for each row its state after a resync, and what is known to be on the platform.
func tellKnown(ctx context.Context, a *cli.App, store *state.Store, rows []trade.Entry) error {
	people := engineacts.Acts{Ledger: store}
	for _, row := range rows {
		step := engineacts.RowStep{Key: row.Key, Before: row}
		var err error
		if row.ID > 0 {
			if step.Attempts, err = store.Attempts(ctx, row.ID); err != nil {
				return err
			}
		}
		if step.Counterpart, err = people.Counterpart(ctx, row); err != nil {
			return err
		}
		known := a.Voice().Known(step)
		if row.ID == 0 {
			known = []string{a.Text("known.never")}
		}
		a.Tell("resync.row", row.Key, row.State.Label(a.Voice().Lang), strings.Join(known, "; "))
	}
	return nil
}

// resyncOf returns which rows the flags select.
func resyncOf(a *cli.App, config *config.Config, job string, f resyncFlags) (discovery.Resync, error) {
	var out discovery.Resync
	if f.since != "" {
		since, ok := cli.ParseSince(f.since, office.Now(), config.Zone())
		if !ok {
			return out, a.Usage("says.since", f.since)
		}
		out.Since = since.In(config.Zone())
		for _, j := range config.Jobs {
			if j.Name == job && j.ChangedAt == "" {
				return out, a.Usage("resync.no_change", job)
			}
		}
	}
	var err error
	if out.States, err = cli.ParseStates(a, f.states, trade.States); err != nil {
		return out, err
	}
	keys, err := cli.KeysOf(a, config, job, f.keys)
	if err != nil {
		return out, err
	}
	if f.file != "" {
		fromFile, err := readKeys(a, config, job, f.file)
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

// readKeys reads keys from a file, one a line; it ignores blank lines.
func readKeys(a *cli.App, conf *config.Config, job, file string) (keys []string, err error) {
	in := io.NopCloser(a.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", file, config.PlainReason(err))
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
		key, err := a.CheckKey(conf, job, text)
		if err != nil {
			a.Tell("resync.line", file, n)
			return nil, err
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(keys) == 0 {
		return nil, a.Usage("resync.empty", file)
	}
	return keys, nil
}

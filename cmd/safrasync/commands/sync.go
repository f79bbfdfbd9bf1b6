package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// SyncFlags are the flags of `safrasync sync`.
type SyncFlags struct {
	Sweep, dryRun, rows, strict, anyHour, recordOnly bool
	limit                                            int
	page                                             string
}

// NewSyncCommand makes the command sync.
func NewSyncCommand(a *cli.App) *cobra.Command {
	var f SyncFlags
	var cmd *cobra.Command
	cmd = a.Command("sync [JOB… | JOB KEY…]", "read the ERP and send what is ready, now", cli.AnyArgs, func(ctx context.Context, args []string) error {
		if cmd.Flags().Changed("limit") && f.limit < 1 {
			return a.Usage("--limit must be 1 or more; to read and record without sending: --record-only")
		}
		if (f.page != "" || f.rows) && !f.dryRun {
			return a.Usage("--page and --rows require --dry-run")
		}
		_, err := Sync(ctx, a, args, f)
		return err
	})
	cmd.Long = a.Text("help.sync_long")
	cmd.ValidArgsFunction = a.CompleteEveryJob
	flags := cmd.Flags()
	flags.BoolVar(&f.Sweep, "sweep", false, "compare everything in scope, although no sweep is due")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read, map and check; cannot write or send")
	flags.StringVar(&f.page, "page", "", "with --dry-run: write what would be sent to `FILE`, as a page to print and sign")
	flags.BoolVar(&f.rows, "rows", false, "with --dry-run: list each row that would be sent, with its fields")
	flags.BoolVar(&f.recordOnly, "record-only", false,
		"read and record, also paused jobs, and send nothing: before `safrasync adopt` for what is on the platform already")
	flags.BoolVar(&f.anyHour, "any-hour", false, "send outside the hours of a job too")
	flags.IntVar(&f.limit, "limit", 0, "send at most `N` rows of each job; the others stay pending")
	flags.BoolVar(&f.strict, "strict", false, "exit with 3 when rows need attention")
	flags.BoolVar(&a.Verbose, "verbose", false, "log what happens to standard error, as JSON lines")
	return cmd
}

// Sync makes one pass and prints its report, which is complete even if a job stopped.
func Sync(ctx context.Context, a *cli.App, args []string, f SyncFlags) (reports []trade.RunReport, err error) {
	// the arguments are names of jobs, or one job and the keys of some of its rows
	jobs, keys := args, []string(nil)
	fault := a.CheckJobNames(args...)
	if len(args) > 1 && a.CheckJobNames(args[:2]...) != nil {
		jobs = args[:1]
		keys, fault = cli.KeysOf(a, args[0], args[1:])
	}
	switch {
	case fault != nil:
		return nil, fault
	case f.dryRun && (f.limit > 0 || keys != nil):
		return nil, a.Usage("--dry-run shows everything that would be sent: it cannot be combined with keys or --limit; for one row: `safrasync why JOB KEY --request`")
	case f.recordOnly && (f.dryRun || f.limit > 0 || f.anyHour || keys != nil):
		return nil, a.Usage("--record-only records everything and sends nothing: it cannot be combined with keys, --limit, --dry-run or --any-hour")
	}
	how := cli.ToWrite
	if f.dryRun {
		how = cli.ToRead
	}
	watcher := a.Watch()
	// an unreachable ERP is recorded and reported as a stop of each job
	o, err := a.OfficeSeen(ctx, how, cli.ERPIfThere, watcher.Observe)
	if err != nil {
		watcher.Close()
		ledger := cli.LedgerFault(err)
		if !a.AsJSON || ledger == nil {
			return nil, err
		}
		// Nothing was read and nothing was sent. The code is ledger_rolled_back for state-rolled-back.
		code := "ledger_" + strings.ReplaceAll(strings.TrimPrefix(ledger.Code, "state-"), "-", "_")
		return nil, errors.Join(err, a.PrintJSON(struct {
			Runs    []trade.RunReport `json:"runs"`
			Stopped trade.Stop        `json:"stopped"`
		}{[]trade.RunReport{}, trade.Stop{Code: code, Why: trade.Because(ledger)}}))
	}
	opts := engine.Options{
		Sweep: f.Sweep, DryRun: f.dryRun, AnyHour: f.anyHour, Limit: f.limit, RecordOnly: f.recordOnly,
	}
	if keys != nil {
		opts.Keys = map[string][]string{jobs[0]: keys}
	}
	var forecast *office.Forecast
	if f.dryRun {
		forecast = o.Forecast(jobs)
		forecast.Listed = f.rows
		opts.Planned = forecast.Add
	}
	reports, err = o.Sync(ctx, jobs, opts)
	watcher.Close()
	// A run that was interrupted is reported like any other.
	rows, missed, rowsErr := rowsNamed(context.WithoutCancel(ctx), o, jobs, keys)
	if printErr := PrintSync(context.WithoutCancel(ctx), a, o, reports, f, forecast, rows); printErr != nil ||
		rowsErr != nil {
		return reports, errors.Join(err, printErr, rowsErr)
	}
	if f.recordOnly {
		a.Tell("Recorded only: nothing was sent. What is pending is checked (retyped? equal to another row?) and goes in the next run, also of the service. Before it: `safrasync adopt` for each row that is on the platform already; `safrasync pause JOB` keeps the others until then.")
	}
	for _, key := range missed {
		a.Tell("%s %s: was not read from the ERP; `safrasync why %s '%s'` shows why", jobs[0], key, jobs[0], key)
	}
	if err == nil && len(missed) > 0 {
		err = cli.ErrFailed
	}
	return reports, syncResult(reports, err, f.strict)
}

// rowsNamed returns the rows with the given keys, and the keys that are not in the ledger.
func rowsNamed(ctx context.Context, o *office.Office, jobs,
	keys []string,
) (rows []trade.Entry, missed []string, err error) {
	for _, key := range keys {
		e, err := o.Entry(ctx, jobs[0], key)
		switch {
		case errors.Is(err, trade.ErrNotFound):
			missed = append(missed, key)
		case err != nil:
			return nil, nil, err
		default:
			rows = append(rows, e)
		}
	}
	return rows, missed, nil
}

// syncResult converts reports to an exit code. A stop has precedence over a job that another
// process runs, and that over rows that need a person.
func syncResult(reports []trade.RunReport, err error, strict bool) error {
	attention := false
	for _, r := range reports {
		if r.Stopped != nil {
			return errors.Join(cli.ErrFailed, err)
		}
		attention = attention || r.NeedsPerson()
	}
	if err == nil && strict && attention {
		return &cli.ExitError{Code: cli.ExitAttention}
	}
	return err
}

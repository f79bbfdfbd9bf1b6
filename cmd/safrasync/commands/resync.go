package commands

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewResyncCommand makes the command resync.
func NewResyncCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var since, until, file string
	var typed, states []string
	cmd := a.Command("resync JOB --reason TEXT", "read rows again and evaluate them with the current configuration; never touches what was sent or is in doubt", cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			job := args[0]
			if err := a.CheckJobNames(job); err != nil {
				return err
			}
			if err := a.NeedReason(f); err != nil {
				return err
			}
			order := acts.Order{Act: acts.ActResync, Job: job}
			for _, d := range []struct {
				flag, text string
				at         *time.Time
			}{{"since", since, &order.Since}, {"until", until, &order.Until}} {
				if d.text == "" {
					continue
				}
				at, ok := cli.ParseSince(d.text, office.Now(), a.Config.Zone())
				if !ok {
					return a.Usage("--%s %q is neither an age (2h, 7d) nor a date (2026-11-21)", d.flag, d.text)
				}
				*d.at = at.In(a.Config.Zone())
				for _, j := range a.Config.Jobs {
					if j.Name == job && j.ChangedAt == "" {
						return a.Usage("job %s has no changed_at: omit --since and --until to read all rows again", job)
					}
				}
			}
			var err error
			order.States, err = cli.ParseStates(a, states, trade.States)
			if err != nil {
				return err
			}
			keys, err := cli.KeysOf(a, job, typed)
			if err != nil {
				return err
			}
			if file != "" {
				fromFile, err := readKeys(a, job, file)
				if err != nil {
					return err
				}
				keys = append(keys, fromFile...)
			}
			if len(typed) > 0 || file != "" {
				slices.Sort(keys)
				order.Keys = slices.Compact(keys)
			}
			plan, err := planResync(ctx, a, order)
			if err != nil {
				return err
			}
			o, err := a.ConfirmedOffice(ctx, f.Yes)
			if err != nil {
				return err
			}
			asked, err := o.OrderResync(ctx, plan, a.Person(f))
			if err != nil {
				return err
			}
			if asked != nil {
				return cli.PrintAsked(a, *asked)
			}
			return runResync(ctx, a, order, a.Person(f))
		})
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "only rows that changed in the ERP since `D`: 7d, 2026-11-21, 21/11/2026")
	flags.StringVar(&until, "until", "",
		"only rows that changed in the ERP on this day or earlier, `D`: 7d, 2026-11-21, 21/11/2026")
	flags.StringArrayVar(&typed, "key", nil, "only the row with this `KEY`; may be repeated")
	flags.StringVar(&file, "file", "", "only the rows whose keys are in `FILE`, one per line; - is standard input")
	cli.AddStateFlag(a, cmd, &states, "only rows in these `STATES`: %s", trade.States)
	flags.BoolVar(&a.Verbose, "verbose", false, "log what happens to standard error, as JSON lines")
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

// runResync reads the job again, as an order that was recorded says.
func runResync(ctx context.Context, a *cli.App, order acts.Order, who trade.Person) error {
	watcher := a.Watch()
	defer watcher.Close()
	// an unreachable ERP is recorded and reported as a stop of the job
	o, err := a.OfficeSeen(ctx, cli.ToWrite, cli.ERPIfThere, watcher.Observe)
	if err != nil {
		return err
	}
	reports, err := o.Resync(ctx, order, "", who)
	watcher.Close()
	if printErr := PrintSync(context.WithoutCancel(ctx), a, o, reports, SyncFlags{}, nil, nil); printErr != nil {
		return errors.Join(err, printErr)
	}
	return syncResult(reports, err, false)
}

// approvableResync returns the act with which an ordered resync is approved on the command line, where it is
// done before the command ends.
func approvableResync(a *cli.App) acts.OtherAct {
	return acts.OtherAct{
		Mark: func(ctx context.Context, order acts.Order) (string, error) {
			plan, err := planResync(ctx, a, order)
			return plan.Mark(), err
		},
		Do: func(ctx context.Context, order acts.Order, mark string, who trade.Person) (bool, error) {
			plan, err := planResync(ctx, a, order)
			if err != nil || plan.Mark() != mark {
				return false, err
			}
			o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
			if err != nil {
				return false, err
			}
			if err := o.RecordResync(ctx, plan, who); err != nil {
				return false, err
			}
			return true, runResync(ctx, a, order, who)
		},
	}
}

// planResync prints and returns what a resync would change. It changes nothing.
func planResync(ctx context.Context, a *cli.App, order acts.Order) (office.ResyncPlan, error) {
	o, err := a.Office(ctx, cli.ToRead, cli.ERPNeeded)
	if err != nil {
		return office.ResyncPlan{}, err
	}
	plan, err := o.PlanResync(ctx, order)
	if err != nil {
		return plan, err
	}
	r, v := plan.Report, a.Voice()
	a.Tell("Read job %s again: %d {row|rows} in the query; %d new, %d changed in the ERP. Their states would be:", order.Job, plan.Reads(), r.New, r.Changed)
	for _, s := range trade.States {
		if n := plan.States[string(s)]; n > 0 {
			a.Tell("  %d: %s", n, s.Label(v.Lang))
		}
	}
	if plan.Due > 0 {
		a.Tell("  %d: %s", plan.Due, a.Text("sent again, their time has come"))
	}
	if n := plan.Same(); n > 0 {
		a.Tell("  %d: %s", n, a.Text("stay as they are"))
	}
	for _, step := range plan.Rows {
		known := v.Known(step)
		if step.Before.ID == 0 {
			known = []string{a.Text("on the platform, of this row: nothing; it was never sent")}
		}
		a.Tell("  %s: %s; %s", step.Key, step.Before.State.Label(v.Lang), strings.Join(known, "; "))
	}
	for _, note := range r.Notes {
		a.Tell("  %s", v.Say(note))
	}
	a.Tell("What was sent or is in doubt is only compared; none of it is sent again.")
	return plan, nil
}

// readKeys reads keys from a file, one a line; it ignores blank lines.
func readKeys(a *cli.App, job, file string) (keys []string, err error) {
	in := io.NopCloser(a.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, phrase.Errorf("%s: %s", file, config.PlainReason(err))
		}
		in = f
	}
	defer phrase.Join(&err, in.Close)
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" {
			continue
		}
		key, err := a.CheckKey(job, text)
		if err != nil {
			a.Tell("%s, line %d:", file, n)
			return nil, err
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, phrase.Errorf("%s: %w", file, err)
	}
	if len(keys) == 0 {
		return nil, a.Usage("%s contains no keys", file)
	}
	return keys, nil
}

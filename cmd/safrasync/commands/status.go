package commands

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// NewStatusCommand makes the command status.
func NewStatusCommand(a *cli.App) *cobra.Command {
	var digest, isAlive, next bool
	cmd := a.Command("status", "jobs, last and next runs, rows by state; with --next, the schedules explained", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		if !digest && !next && !isAlive {
			return Status(ctx, a)
		}
		o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
		if err != nil {
			return err
		}
		switch {
		case digest:
			sent, text, err := o.Digest(ctx)
			if err != nil {
				return err
			}
			if a.AsJSON {
				return a.PrintJSON(sent)
			}
			a.Block(text)
			return nil
		case next:
			jobs, err := o.Schedules(ctx, a.Lang())
			if err != nil {
				return err
			}
			v := a.Voice()
			for _, job := range jobs {
				for _, s := range job.Times {
					err := a.Answer(s, "%s, %s: %s (%s)\n    %s  (%s)", job.Job, v.Text("cron."+s.What), s.Text,
						s.Words, strings.Join(v.ShortTimes(s.Next), "  "), v.Zone)
					if err != nil {
						return err
					}
				}
			}
			return nil
		}
		// Exit code 1 unless a `safrasync run` on this host serves the ledger and has reported
		// itself within the last minutes. Nothing but the ledger is asked.
		service, err := o.ServiceHere(ctx)
		switch {
		case err != nil:
			return err
		case service == nil:
			a.Tell("`safrasync run` is not running on this host, or has not reported for minutes: it hangs or has ended")
			return cli.ErrFailed
		case a.AsJSON:
			return a.PrintJSON(service)
		}
		printServices(a, []office.Service{*service})
		return nil
	})
	cmd.Flags().BoolVar(&isAlive, "alive", false, "exit code 1 unless the service runs on this host and is well")
	cmd.Flags().BoolVar(&next, "next", false, "explain the schedules and show their next times")
	cmd.Flags().BoolVar(&digest, "digest", false, "show the digest that would be sent now, and send nothing")
	return cmd
}

// Status prints the status of each job: the configured jobs in file order, then those that only the
// ledger knows.
func Status(ctx context.Context, a *cli.App) error {
	o, err := a.Office(ctx, cli.AsItIs, cli.NoERP)
	if err != nil {
		a.PrintServices(err)
		return err
	}
	jobs, err := o.Status(ctx)
	if err != nil {
		return err
	}
	for i, job := range jobs {
		if a.AsJSON {
			if err := a.PrintJSON(job); err != nil {
				return err
			}
			continue
		}
		if i == 0 {
			printServices(a, job.Services)
			v := a.Voice()
			for _, i := range job.Instances {
				holds := ""
				if len(i.Jobs) > 0 {
					holds = v.Text(", running %s", strings.Join(i.Jobs, ", "))
				}
				if i.Alive {
					a.Show("instance on %s (safrasync %s, process %d): alive, version %s, since %s%s", i.Host, i.Command, i.PID, i.Version, v.Moment(i.Since), holds)
				} else {
					a.Show("instance on %s (safrasync %s, process %d): no sign of life since %s%s; what it was sending is in doubt, and another instance takes over its jobs", i.Host, i.Command, i.PID, v.Moment(i.Until), holds)
				}
			}
			switch {
			case !a.OwnLedger():
			case job.LastBackup == nil:
				a.Show("There is no copy of the ledger yet: `systemctl enable --now safrasync-backup.timer`")
			default:
				a.Show("Last copy of the ledger: %s", v.Moment(*job.LastBackup))
			}
			switch {
			case job.Witness == nil:
			case job.Witness.Why() != nil:
				a.Show("WARNING: the witness %s cannot be read or written: %s", job.Witness.Place, v.Fault(job.Witness.Why()))
			case job.Witness.Late != nil:
				a.Show("WARNING: the witness %s was not written since %s", job.Witness.Place, v.Moment(*job.Witness.Late))
			case job.Witness.At == nil:
				a.Show("Witness: %s, not yet written", job.Witness.Place)
			default:
				a.Show("Witness: %s, written at %s", job.Witness.Place, v.Moment(*job.Witness.At))
			}
		}
		v := a.Voice()
		since := ""
		if job.Since != nil {
			since = v.Text(" since %s", v.Moment(*job.Since))
		}
		a.Show("%s: %s%s%s", v.Job(job.Job), v.Text("job.state."+string(job.State)), since,
			whatItSends(a, job.Job))
		if !job.Configured {
			a.Show("  no longer in the configuration")
		}
		if job.Stop != nil {
			a.Show("  reason: %s", v.Stop(*job.Stop))
		}
		switch r := job.LastRun; {
		case r == nil:
			a.Show("  has never run")
		case r.EndedAt.IsZero() && r.SentRows == nil:
			a.Show("  run started at %s, interrupted: its process is gone; the next run recovers it", v.Moment(r.StartedAt))
		case r.EndedAt.IsZero():
			a.Show("  running since %s: %d of %d sent", v.Moment(r.StartedAt),
				max(0, *r.SentRows-job.States[trade.Sending]),
				*r.SentRows+job.States[trade.Pending])
		default:
			a.Show("  last run: %s (%s): %d read, %d new, %d changed, %d sent", v.Moment(r.StartedAt), r.EndedAt.Sub(r.StartedAt).Round(time.Second), r.Read,
				r.New, r.Changed, r.RowsSent())
		}
		if len(job.NextRuns) > 0 && job.State != trade.Paused {
			a.Show("  next runs of the service: %s  (%s)", strings.Join(v.ShortTimes(job.NextRuns), "  "), v.Zone)
		}
		if job.SweptAt != nil {
			a.Show("  last complete sweep: %s", v.Moment(*job.SweptAt))
		}
		if len(job.States) == 0 {
			a.Show("  no rows recorded")
		}
		printStates(a, job.States, job.Flags)
	}
	return nil
}

func printServices(a *cli.App, services []office.Service) {
	v := a.Voice()
	serving := false
	for _, s := range services {
		serving = serving || s.Alive
		if s.Alive {
			a.Show("service (safrasync run): running since %s, version %s, process %d on %s", v.Moment(s.Since), s.Version, s.PID, s.Host)
		} else {
			a.Show("service (safrasync run): process %d on %s has ended or does not respond; last seen %s", s.PID, s.Host, v.Moment(s.Seen))
		}
	}
	if !serving {
		a.Show("service (safrasync run): not running; nothing runs automatically until it is started")
	}
}

package runs

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// NewStatusCommand makes the command status.
func NewStatusCommand(a *cli.App) *cobra.Command {
	var digest, isAlive, next bool
	cmd := a.Command("status", "help.status", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		switch {
		case digest:
			return printDigest(ctx, a)
		case next:
			return printNext(ctx, a)
		case isAlive:
			return alive(ctx, a)
		}
		return Status(ctx, a)
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
		a.TellServed(err)
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
			printInstances(a, job.Instances)
			printBackup(a, job.LastBackup)
			printWitness(a, job.Witness)
		}
		printJob(a, job)
	}
	return nil
}

func printServices(a *cli.App, services []office.Service) {
	v := a.Voice()
	serving := false
	for _, s := range services {
		serving = serving || s.Alive
		if s.Alive {
			a.Show("status.service", v.Moment(s.Since), s.Version, s.PID, s.Host)
		} else {
			a.Show("status.service_lost", s.PID, s.Host, v.Moment(s.Seen))
		}
	}
	if !serving {
		a.Show("status.no_service")
	}
}

// printBackup prints when the last copy of a ledger was made that is ours to copy.
func printBackup(a *cli.App, last *time.Time) {
	switch {
	case !a.OwnLedger():
	case last == nil:
		a.Show("status.no_backup")
	default:
		a.Show("status.backup", a.Voice().Moment(*last))
	}
}

// printWitness prints whether the witness has what the journal has.
func printWitness(a *cli.App, w *office.Witness) {
	v := a.Voice()
	switch {
	case w == nil:
	case w.Why() != nil:
		a.Show("status.witness_fault", w.Place, v.Fault(w.Why()))
	case w.Late != nil:
		a.Show("status.witness_late", w.Place, v.Moment(*w.Late))
	case w.At == nil:
		a.Show("status.witness_new", w.Place)
	default:
		a.Show("status.witness", w.Place, v.Moment(*w.At))
	}
}

func printJob(a *cli.App, j office.JobStatus) {
	v := a.Voice()
	since := ""
	if j.Since != nil {
		since = v.Text("status.since", v.Moment(*j.Since))
	}
	a.Show("status.job", v.Job(j.Job), v.Text(i18n.Key("job.state."+string(j.State))), since, whatItSends(a, j.Job))
	if !j.Configured {
		a.Show("status.gone")
	}
	if j.Stop != nil {
		a.Show("status.stop", v.Stop(*j.Stop))
	}
	switch r := j.LastRun; {
	case r == nil:
		a.Show("status.never_ran")
	case r.EndedAt.IsZero() && r.SentRows == nil:
		a.Show("status.run_interrupted", v.Moment(r.StartedAt))
	case r.EndedAt.IsZero():
		a.Show("status.run_goes", v.Moment(r.StartedAt), max(0, *r.SentRows-j.States[trade.Sending]),
			*r.SentRows+j.States[trade.Pending])
	default:
		a.Show("status.last_run", v.Moment(r.StartedAt), r.EndedAt.Sub(r.StartedAt).Round(time.Second), r.Read, r.New,
			r.Changed, r.RowsSent())
	}
	if len(j.NextRuns) > 0 && j.State != trade.Paused {
		a.Show("status.next_run", strings.Join(v.ShortTimes(j.NextRuns), "  "), v.Zone)
	}
	if j.SweptAt != nil {
		a.Show("status.swept", v.Moment(*j.SweptAt))
	}
	if len(j.States) == 0 {
		a.Show("status.no_rows")
	}
	printStates(a, j.States, j.Flags)
}

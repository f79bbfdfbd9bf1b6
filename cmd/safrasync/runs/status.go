package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/alerts"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// NewStatusCommand makes the command status.
func NewStatusCommand(a *cli.App) *cobra.Command {
	var digest, isAlive bool
	cmd := a.Command("status", "help.status", cli.Exactly(0), func(cmd *cobra.Command, _ []string) error {
		switch {
		case digest:
			return alerts.PrintDigest(cmd.Context(), a)
		case isAlive:
			return alive(cmd.Context(), a)
		}
		return Status(cmd.Context(), a)
	})
	cmd.Flags().BoolVar(&isAlive, "alive", false, "exit code 1 unless the service runs on this host and is well")
	cmd.Flags().BoolVar(&digest, "digest", false, "show the digest that would be sent now, and send nothing")
	return cmd
}

// JobJSON is one line of `status --json`.
type JobJSON struct {
	Job        string              `json:"job"`
	Sends      *string             `json:"sends"` // null for a job that is no longer configured
	Configured bool                `json:"configured"`
	State      trade.JobState      `json:"state"`
	Since      *time.Time          `json:"since"`
	Stop       *trade.Stop         `json:"stop"`
	States     map[trade.State]int `json:"states"`
	Flags      map[trade.Flag]int  `json:"flags"`
	LastRun    *trade.RunReport    `json:"last_run"`
	SweptAt    *time.Time          `json:"swept_at"`   // the last complete sweep
	NextRun    *time.Time          `json:"next_run"`   // in the daemon, or when a stop ends by itself
	NextSweep  *time.Time          `json:"next_sweep"` // from this time on, the next run sweeps
	NextRuns   []time.Time         `json:"next_runs"`  // the next five; empty for a job that is not configured
	Services   []serviceJSON       `json:"services"`   // every `safrasync run` of this ledger; the same for each job
	// of a ledger in PostgreSQL: the processes that may send; the same for each job
	Instances []instanceJSON `json:"instances"`
	// when the last backup of a SQLite ledger was made; null: never; the same for each job
	LastBackup *time.Time `json:"last_backup"`
}

// serviceJSON is a `safrasync run` that serves the ledger, or one that died without reporting its
// end.
type serviceJSON struct {
	Alive   bool      `json:"alive"`
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"` // when it last reported itself
	Version string    `json:"version"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
}

// Status prints the status of each job: the configured jobs in file order, then those that only the
// ledger knows.
func Status(ctx context.Context, a *cli.App) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	// state.Open never replaces a missing ledger by an empty one
	store, err := state.Open(ctx, a.LedgerOptions(config, cli.ToRead))
	if err != nil {
		tellServed(a, err)
		return err
	}
	a.Closers = append(a.Closers, store.Close)
	jobs, err := ReadStatus(ctx, store, config)
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
			printBackup(a, job.LastBackup, config.State.Driver)
		}
		printJob(a, job)
	}
	return nil
}

// ReadStatus returns the configured jobs in file order, then those that only the ledger knows.
func ReadStatus(ctx context.Context, store *state.Store, configuration *config.Config) ([]JobJSON, error) {
	known, err := store.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	specs := map[string]mapping.JobSpec{}
	for _, spec := range configuration.JobSpecs() {
		names = append(names, spec.Name)
		specs[spec.Name] = spec
	}
	for _, name := range known {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	services, err := readServices(ctx, store)
	if err != nil {
		return nil, err
	}
	instances, err := readInstances(ctx, store)
	if err != nil {
		return nil, err
	}
	backup, err := store.LastBackup(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]JobJSON, len(names))
	for i, name := range names {
		if out[i], err = ReadJob(ctx, store, name); err != nil {
			return nil, err
		}
		out[i].Services, out[i].Instances, out[i].LastBackup = services, instances, cli.TimeOrNull(backup.At)
		if spec, ok := specs[name]; ok {
			if err := out[i].Schedule(spec, configuration.Zone(), cli.Now()); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// tellServed prints, for a ledger that cannot be opened, which services still use the file that
// they opened at their start.
func tellServed(a *cli.App, err error) {
	var fault *state.Error
	if errors.As(err, &fault) {
		if pids := state.ServedBy(fault.Path); len(pids) > 0 {
			a.Tell("status.served_still", strings.Join(pids, ", "))
		}
	}
}

// ReadJob reads the status of a job from the ledger.
func ReadJob(ctx context.Context, store *state.Store, name string) (JobJSON, error) {
	job := JobJSON{Job: name, States: map[trade.State]int{}, NextRuns: []time.Time{}}
	status, err := store.JobStatus(ctx, name)
	if err != nil {
		return job, err
	}
	if status, err = cli.Abandoned(ctx, store, status); err != nil {
		return job, err
	}
	job.State, job.Stop, job.Since = status.State, status.Stop, cli.TimeOrNull(status.Since)
	tallies, err := store.Counts(ctx, name)
	if err != nil {
		return job, err
	}
	for _, t := range tallies {
		if t.Count > 0 {
			job.States[t.State] += t.Count
		}
	}
	if job.Flags, err = store.FlagCounts(ctx, name); err != nil {
		return job, err
	}
	runs, err := store.Runs(ctx, name, 1)
	if err != nil {
		return job, err
	}
	if len(runs) > 0 {
		job.LastRun = &runs[0]
	}
	cursor, err := store.Cursor(ctx, name)
	job.SweptAt = cli.TimeOrNull(cursor.SweptAt)
	return job, err
}

// Schedule fills in what the configuration determines.
func (j *JobJSON) Schedule(spec mapping.JobSpec, zone *time.Location, now time.Time) error {
	sends := string(spec.Sends)
	j.Configured, j.Sends = true, &sends
	runs, err := clock.ParseSchedule(spec.Schedule, zone)
	if err != nil {
		return err
	}
	sweeps, err := clock.ParseSchedule(spec.Sweep, zone)
	if err != nil {
		return err
	}
	after := now
	if j.SweptAt != nil { // a sweep is due from the first time of its schedule after the last one
		after = *j.SweptAt
	}
	from := now
	// @every counts from the last run, not from now
	if _, distance := runs.(cron.ConstantDelaySchedule); distance && j.LastRun != nil {
		if last := j.LastRun.StartedAt; last.Before(now) && runs.Next(last).After(now) {
			from = last
		}
	}
	j.NextRuns = cli.NextRuns(runs, trade.JobStatus{State: j.State, Stop: j.Stop}, from, now)
	if len(j.NextRuns) > 0 {
		j.NextRun = &j.NextRuns[0]
	}
	j.NextSweep = cli.TimeOrNull(sweeps.Next(after).UTC())
	return nil
}

func readServices(ctx context.Context, store *state.Store) ([]serviceJSON, error) {
	services, err := store.Services(ctx)
	out := make([]serviceJSON, len(services))
	for i, s := range services {
		out[i] = serviceJSON{!s.Dead, s.Since, s.Seen, s.Version, s.Owner.Host, s.Owner.PID}
	}
	return out, err
}

func printServices(a *cli.App, services []serviceJSON) {
	v := a.Voice()
	serving := false
	for _, s := range services {
		if serving = serving || s.Alive; s.Alive {
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
func printBackup(a *cli.App, last *time.Time, driver string) {
	switch {
	case driver != state.SQLite:
	case last == nil:
		a.Show("status.no_backup")
	default:
		a.Show("status.backup", a.Voice().Moment(*last))
	}
}

func printJob(a *cli.App, j JobJSON) {
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
	case r.EndedAt.IsZero():
		a.Show("status.run_open", v.Moment(r.StartedAt))
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

package office

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Instance is a process that may send, or one that died within the last hour without reporting
// its end. Until is on the ledger's clock.
type Instance struct {
	Alive   bool      `json:"alive"`
	Command string    `json:"command"` // run or sync
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"` // by then it must report again
	Version string    `json:"version"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Jobs    []string  `json:"jobs"` // jobs whose lease it holds
}

// JobStatus is the status of a job, as `status --json` prints it.
type JobStatus struct {
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
	Services   []Service           `json:"services"`   // every `safrasync run` of this ledger; the same for each job
	// of a ledger in PostgreSQL: the processes that may send; the same for each job
	Instances []Instance `json:"instances"`
	// when the last backup of a SQLite ledger was made; null: never; the same for each job
	LastBackup *time.Time `json:"last_backup"`
	// the witness off the machine; null: there is none; the same for each job
	Witness *Witness `json:"witness"`
}

// Witness is how the witness of the ledger fares.
type Witness struct {
	Place string     `json:"place"`
	At    *time.Time `json:"at"`    // when this host's line was written last
	Late  *time.Time `json:"late"`  // from when on it lacks what the journal has; null: it does not
	Fault string     `json:"fault"` // why it cannot be read or written
	fault error
}

// Why returns why the witness cannot be read or written, or nil.
func (w *Witness) Why() error { return w.fault }

// Service is a `safrasync run` that serves the ledger, or one that died without reporting its
// end.
type Service struct {
	Alive   bool      `json:"alive"`
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"` // when it last reported itself
	Version string    `json:"version"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
}

// Status returns the status of the configured jobs in file order, then of those that only the ledger
// knows.
func (o *Office) Status(ctx context.Context) ([]JobStatus, error) {
	known, err := o.store.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	specs := map[string]mapping.JobSpec{}
	for _, spec := range o.conf.JobSpecs() {
		names = append(names, spec.Name)
		specs[spec.Name] = spec
	}
	for _, name := range known {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	services, err := readServices(ctx, o.store)
	if err != nil {
		return nil, err
	}
	processes, err := o.store.Instances(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := o.store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	instances := make([]Instance, len(processes))
	for i, in := range processes {
		instances[i] = Instance{
			Alive: !in.Dead, Command: in.Command, Since: in.Started, Until: in.Until, Version: in.Version,
			Host: in.Owner.Host, PID: in.Owner.PID, Jobs: []string{},
		}
		for _, l := range leases {
			if l.Owner.Instance == in.Owner.Instance {
				instances[i].Jobs = append(instances[i].Jobs, l.Job)
			}
		}
	}
	backup, err := o.store.LastBackup(ctx)
	if err != nil {
		return nil, err
	}
	w, err := o.store.Witness(ctx)
	if err != nil {
		return nil, err
	}
	var witness *Witness
	if w.Place != "" {
		witness = &Witness{Place: w.Place, At: trade.OrNull(w.At), Late: trade.OrNull(w.Late), fault: w.Fault}
		if w.Fault != nil {
			witness.Fault = w.Fault.Error()
		}
	}
	out := make([]JobStatus, len(names))
	for i, name := range names {
		out[i], err = readJob(ctx, o.store, name)
		if err != nil {
			return nil, err
		}
		out[i].Services, out[i].Instances, out[i].LastBackup = services, instances, trade.OrNull(backup.At)
		out[i].Witness = witness
		spec, ok := specs[name]
		if !ok {
			continue
		}
		job, sends := &out[i], string(spec.Sends)
		job.Configured, job.Sends = true, &sends
		runs, err := clock.ParseSchedule(spec.Schedule, o.conf.Zone())
		if err != nil {
			return nil, err
		}
		sweeps, err := clock.ParseSchedule(spec.Sweep, o.conf.Zone())
		if err != nil {
			return nil, err
		}
		now := o.now()
		after := now
		if job.SweptAt != nil { // a sweep is due from the first time of its schedule after the last one
			after = *job.SweptAt
		}
		var last time.Time
		if job.LastRun != nil {
			last = job.LastRun.StartedAt
		}
		job.NextRuns = nextRuns(runs, trade.JobStatus{State: job.State, Stop: job.Stop}, last, now)
		if len(job.NextRuns) > 0 {
			job.NextRun = &job.NextRuns[0]
		}
		job.NextSweep = trade.OrNull(sweeps.Next(after).UTC())
	}
	return out, nil
}

// readJob reads the status of a job from the ledger.
func readJob(ctx context.Context, store *state.Store, name string) (JobStatus, error) {
	job := JobStatus{Job: name, States: map[trade.State]int{}, NextRuns: []time.Time{}}
	status, err := LiveStatus{store}.JobStatus(ctx, name)
	if err != nil {
		return job, err
	}
	job.State, job.Stop, job.Since = status.State, status.Stop, trade.OrNull(status.Since)
	tallies, err := store.Counts(ctx, name)
	if err != nil {
		return job, err
	}
	for _, t := range tallies {
		if t.Count > 0 {
			job.States[t.State] += t.Count
		}
	}
	job.Flags, err = store.FlagCounts(ctx, name)
	if err != nil {
		return job, err
	}
	runs, err := store.Runs(ctx, name, 1)
	if err != nil {
		return job, err
	}
	if len(runs) > 0 {
		job.LastRun = &runs[0]
		leased := false
		if runs[0].EndedAt.IsZero() {
			leased, err = isLeased(ctx, store, name)
		}
		if err == nil && leased { // it goes on: with the number of rows that it has sent
			runs[0].Sent, err = store.RunSent(ctx, runs[0])
			runs[0].SentRows = &runs[0].Sent
		}
	}
	if err != nil {
		return job, err
	}
	cursor, err := store.Cursor(ctx, name)
	job.SweptAt = trade.OrNull(cursor.SweptAt)
	return job, err
}

// ServiceHere returns the service that serves the ledger from this host and is alive; nil if there is
// none.
func (o *Office) ServiceHere(ctx context.Context) (*Service, error) {
	services, err := readServices(ctx, o.store)
	for i, s := range services {
		if s.Alive && s.Host == state.Self().Host {
			return &services[i], err
		}
	}
	return nil, err
}

func readServices(ctx context.Context, store *state.Store) ([]Service, error) {
	services, err := store.Services(ctx)
	return trade.Map(services, func(s state.Service) Service {
		return Service{!s.Dead, s.Since, s.Seen, s.Version, s.Owner.Host, s.Owner.PID}
	}), err
}

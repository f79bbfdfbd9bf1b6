package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// Config is what the engine is made of.
type Config struct {
	Ledger     Ledger
	Source     Source
	Platform   Platform
	Clock      Clock
	Owner      trade.Owner // this process
	Jobs       []*Job      // in the order in which they run
	References []ReferenceSpec
	Limits     Limits
	Zone       *time.Location // in which "today" is judged
	Log        *zap.Logger
	Observe    func(Progress) // optional: told as the run goes on; called by one goroutine at a time
}

// Progress tells how far a job has come.
type Progress struct {
	Job   string
	Phase Phase
	Read  int // rows read so far
	Done  int // entries settled so far
	Total int // entries that were due when sending began; it may grow
	Note  string
}

// Phase is the step that a job is at.
type Phase string

// The phases of a run.
const (
	Reading Phase = "reading"
	Sending Phase = "sending"
	Resting Phase = "waiting" // the API asked to wait; Note says how long
	Done    Phase = "done"
)

// Engine runs jobs.
type Engine struct{ Config }

// New makes an engine. Everything of the configuration but Observe must be given.
func New(config Config) *Engine {
	if config.Observe == nil {
		config.Observe = func(Progress) {}
	}
	return &Engine{config}
}

// Options are what a pass is asked to do.
type Options struct {
	Sweep  bool // compare everything in scope, although none is due
	DryRun bool // read, map and check, but write nothing and send nothing
	// Planned is told of each row that a dry run would add or change, as it would be then; nil tells nobody.
	Planned func(trade.Entry)
}

// Sync makes one pass over the named jobs (none named: all), in the order of the configuration. The reports are complete also when a job
// stopped; the error is for what no report can say: a job that another process runs (*trade.LeasedError), a name that no job has.
func (e *Engine) Sync(ctx context.Context, names []string, opts Options) ([]trade.RunReport, error) {
	jobs, err := e.pick(names)
	if err != nil {
		return nil, err
	}
	var reports []trade.RunReport
	var leased error
	var halts []trade.Stop
	for _, job := range jobs {
		if i := slices.IndexFunc(halts, func(s trade.Stop) bool { return s.All || s.Sends == job.Spec.Sends }); i >= 0 {
			reports = append(reports, e.notRun(ctx, job, halts[i]))
			continue
		}
		report, err := e.runJob(ctx, job, opts)
		var held *trade.LeasedError
		if errors.As(err, &held) {
			leased = errors.Join(leased, err)
			continue
		}
		if err != nil {
			return reports, err
		}
		reports = append(reports, report)
		if stop := report.Stopped; stop != nil && !opts.DryRun && (stop.All || stop.Sends != "") {
			halts = append(halts, *stop)
		}
	}
	return reports, leased
}

func (e *Engine) pick(names []string) ([]*Job, error) {
	if len(names) == 0 {
		return e.Jobs, nil
	}
	var out []*Job
	for _, job := range e.Jobs {
		if slices.Contains(names, job.Name()) {
			out = append(out, job)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(e.Jobs, func(j *Job) bool { return j.Name() == name }) {
			return nil, fmt.Errorf("no job is named %q; the configuration has %s", name, e.jobNames())
		}
	}
	return out, nil
}

func (e *Engine) jobNames() []string {
	var names []string
	for _, j := range e.Jobs {
		names = append(names, j.Name())
	}
	return names
}

// Job finds a job by its name.
func (e *Engine) Job(name string) (*Job, error) {
	jobs, err := e.pick([]string{name})
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

// notRun reports a job that did not start because an earlier one met a fault that it would meet too.
func (e *Engine) notRun(ctx context.Context, job *Job, stop trade.Stop) trade.RunReport {
	report := trade.RunReport{Job: job.Name(), StartedAt: e.Clock.Now(), Stopped: &stop}
	r := &jobRun{Engine: e, job: job, ledger: e.Ledger, log: e.Log, report: report}
	r.countStates(ctx)
	if status, err := e.Ledger.JobStatus(ctx, job.Name()); err == nil && status.State == trade.Paused {
		r.report.Stopped = pausedStop(status)
		return r.report
	}
	r.setStatus(ctx, trade.JobStatus{Job: job.Name(), State: trade.Stopped, Stop: &stop, Since: e.Clock.Now()})
	return r.report
}

// pausedStop is the reason of a job that a person, or a brake, has paused.
func pausedStop(status trade.JobStatus) *trade.Stop {
	return &trade.Stop{
		Code: string(stopPaused), Text: "the job is paused: " + stopText(status.Stop) + "; `safrasync resume " + status.Job + "` ends that",
	}
}

// jobRun is one pass of one job.
type jobRun struct {
	*Engine
	job    *Job
	ledger Ledger // the ledger, or one that cannot write
	source Source
	lease  trade.Lease
	now    time.Time // of the run's start: one time for everything that discovery writes
	eval   *evaluator
	report trade.RunReport
	log    *zap.Logger
	dry    *dryLedger
}

// runJob makes one pass of one job, from the lease to the report.
func (e *Engine) runJob(ctx context.Context, job *Job, opts Options) (trade.RunReport, error) {
	now := e.Clock.Now()
	r := &jobRun{
		Engine: e, job: job, ledger: e.Ledger, source: e.Source, now: now,
		report: trade.RunReport{ID: uuid.Must(uuid.NewV7()).String(), Job: job.Name(), StartedAt: now},
	}
	r.log = e.Log.With(zap.String("job", job.Name()), zap.String("run", r.report.ID))
	if opts.DryRun {
		r.dry = &dryLedger{Ledger: e.Ledger, states: map[trade.State]int{}, judged: map[int64]bool{}, fresh: map[keyHash]trade.State{}, planned: opts.Planned}
		r.ledger = r.dry
		err := r.pass(ctx, opts)
		return r.conclude(ctx, err), nil
	}
	status, err := e.Ledger.JobStatus(ctx, job.Name())
	if err != nil {
		return r.report, err
	}
	if status.State == trade.Paused {
		r.report.Stopped = pausedStop(status)
		r.countStates(ctx)
		return r.report, nil
	}
	asked := e.Clock.Boot()
	lease, err := e.Ledger.AcquireLease(ctx, job.Name(), e.Owner)
	if err != nil {
		return r.report, err
	}
	r.lease = lease
	keeper := keepLease(ctx, e.Ledger, lease, e.Clock, asked)
	defer keeper.close()
	r.setStatus(ctx, trade.JobStatus{Job: job.Name(), State: trade.Running, Since: now})
	if err = e.Ledger.StartRun(ctx, r.report); err == nil {
		err = r.passLeased(ctx, opts, keeper, status)
	}
	report := r.conclude(ctx, err)
	if err := e.Ledger.ReleaseLease(context.WithoutCancel(ctx), lease); err != nil {
		e.Log.Warn("the lease was not given back; it ends by itself", zap.Error(err))
	}
	return report, nil
}

func stopText(s *trade.Stop) string {
	if s == nil {
		return "no reason is stored"
	}
	return s.Text
}

// passLeased recovers what an earlier process left, then does the pass, then sends.
func (r *jobRun) passLeased(ctx context.Context, opts Options, keeper *leaseKeeper, status trade.JobStatus) error {
	doubts, err := r.ledger.Recover(ctx, r.lease, r.now)
	if err != nil {
		return err
	}
	if doubts > 0 {
		r.note("%d rows were on the wire when an earlier process ended; they are in doubt now", doubts)
	}
	if err := r.pass(ctx, opts); err != nil {
		return err
	}
	s := newSubmission(r, keeper)
	if stop := status.Stop; stop != nil && status.State == trade.BackingOff { // asked by the API in an earlier run
		switch rest := stop.Until.Sub(r.now); {
		case rest > longestAsked: // a clock stood wrong
		case rest > longestRest:
			return throttled(stop.Until)
		case rest > 0:
			s.restUntil = stop.Until
		}
	}
	return s.run(ctx)
}

// pass reads: references, then the ERP, then what the references changed.
func (r *jobRun) pass(ctx context.Context, opts Options) error {
	if err := r.loadReferences(ctx); err != nil {
		return err
	}
	if err := r.read(ctx, opts.Sweep); err != nil {
		return err
	}
	return r.refresh(ctx)
}

// record stores a page of discovery; a page without content costs nothing.
func (r *jobRun) record(ctx context.Context, page trade.Page) error {
	r.Observe(Progress{Job: r.job.Name(), Phase: Reading, Read: r.report.Read})
	if len(page.New)+len(page.Updates) == 0 && page.Cursor == nil {
		return nil
	}
	lost, err := r.ledger.Record(ctx, r.lease, page)
	if err != nil {
		return err
	}
	if lost > 0 {
		r.log.Info("rows moved while they were recorded; the next run sees them again", zap.Int("rows", lost))
	}
	return nil
}

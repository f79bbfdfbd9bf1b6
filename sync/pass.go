package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/trade"
)

// sliceRows is how many rows a job sends before the other jobs of the pass have their turn: the deliveries of the first contracts do not wait for the
// last contract.
const sliceRows = 1000

// sliceTime is how long it may send, or rest, before that: the API may be slow.
const sliceTime = time.Minute

// traffic is what all jobs of a pass share: the pace that the configuration allows, what is known of the platform's records, and whether its
// answers are to be trusted.
type traffic struct {
	limiter *rate.Limiter
	blocks  *blockList
	careful bool // the last outcome was unknown, or a circuit is tried: one request at a time, until the API says something definite
	probing bool // the first requests after a circuit was open: one failure opens it again
}

// pass is one call of Sync.
type pass struct {
	*Engine
	opts    Options
	traffic *traffic
	runs    []*jobRun
	dry     map[string]*dryLedger // of a dry run, by job
	halts   []trade.Stop          // that reach further than the job which met them
	stopped func(*jobRun)         // told of a run with a stop before it is stored; optional
}

// Sync makes one pass over the named jobs (none named: all), parents first: it reads the ERP for all of them, then sends, in turns. The reports are
// complete also when a job stopped; the error is for what no report can say: a job that another process runs (*trade.LeasedError), a name that no job has.
func (e *Engine) Sync(ctx context.Context, names []string, opts Options) ([]trade.RunReport, error) {
	jobs, err := e.pick(names)
	if err != nil {
		return nil, err
	}
	if !opts.DryRun {
		defer e.join(ctx, "sync")()
	}
	p := e.newPass(opts)
	defer p.close(ctx)
	var leased error
	for _, job := range jobs {
		err := p.begin(ctx, job)
		var held *trade.LeasedError
		switch {
		case errors.As(err, &held):
			leased = errors.Join(leased, err)
		case err != nil:
			for _, r := range p.runs {
				r.err = errors.Join(r.err, err)
			}
			return p.conclude(ctx), err
		}
	}
	p.submit(ctx)
	return p.conclude(ctx), leased
}

func (e *Engine) newPass(opts Options) *pass {
	return &pass{Engine: e, opts: opts, dry: map[string]*dryLedger{}, traffic: &traffic{limiter: e.crew.pace()}}
}

// begin opens the run of one job and reads the ERP. What keeps it from sending is in the run; the error is for what no report can say.
func (p *pass) begin(ctx context.Context, job *Job) error {
	now := p.Clock.Now()
	r := &jobRun{
		Engine: p.Engine, job: job, ledger: p.Ledger, source: p.Source, now: now, anyHour: p.opts.AnyHour, stopped: p.stopped,
		report: trade.RunReport{ID: uuid.Must(uuid.NewV7()).String(), Job: job.Name(), StartedAt: now},
	}
	r.ration = newRation(p.opts.Keys[job.Name()], p.opts.Limit)
	r.log = p.Log.With(zap.String("job", job.Name()), zap.String("run", r.report.ID))
	if p.opts.DryRun {
		r.dry = dryRun(p.Ledger, job.Name(), p.dry, p.opts.Planned)
		r.ledger = r.dry
		p.runs = append(p.runs, r)
		if r.err = p.Ledger.Belongs(ctx, p.Owner.Platform); r.err != nil {
			return nil
		}
		if r.err = r.discoverAll(ctx, p.opts); r.err == nil {
			if _, r.err = r.lookAtOrphans(ctx); r.err == nil {
				r.err = r.lookAhead(ctx)
			}
		}
		return nil
	}
	status, err := p.Ledger.JobStatus(context.WithoutCancel(ctx), job.Name())
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		p.halts = append(p.halts, interrupted())
	}
	if stop := p.haltFor(job); stop != nil || status.State == trade.Paused {
		r.report.ID = "" // it never began
		if r.pausedBefore = status.State == trade.Paused; r.pausedBefore {
			stop = pausedStop(status)
		}
		r.report.Stopped = stop
		p.runs = append(p.runs, r)
		return nil
	}
	asked := p.Clock.Boot()
	r.lease, err = p.Ledger.AcquireLease(context.WithoutCancel(ctx), job.Name(), p.Owner)
	var other *trade.OtherPlatformError
	if errors.As(err, &other) || errors.Is(err, trade.ErrOtherServer) {
		stop := r.stopOf(err)
		r.report.ID, r.report.Stopped = "", &stop
		p.halts, p.runs = append(p.halts, stop), append(p.runs, r)
		return nil
	}
	if err != nil {
		return err
	}
	r.keeper = keepLease(ctx, p.Ledger, r.lease, p.Clock, asked, r.tend)
	p.runs = append(p.runs, r)
	r.setStatus(ctx, trade.JobStatus{Job: job.Name(), State: trade.Running, Since: now})
	if r.err = r.open(ctx, p.opts); r.err == nil {
		r.send, r.err = newSubmission(r, p.traffic, status)
	}
	p.heed(ctx, r)
	return nil
}

// open recovers what an earlier process left, and reads.
func (r *jobRun) open(ctx context.Context, opts Options) error {
	if err := r.ledger.StartRun(ctx, r.report); err != nil {
		return err
	}
	if err := failpoint.Hit("run.started"); err != nil {
		return err
	}
	doubts, err := r.ledger.Recover(ctx, r.lease, r.now)
	if err != nil {
		return err
	}
	if err := failpoint.Hit("run.recovered"); err != nil {
		return err
	}
	if doubts > 0 {
		r.note("%d rows were on the wire when an earlier process ended; they are in doubt now", doubts)
	}
	r.watch(ctx)
	return r.discoverAll(ctx, opts)
}

// submit lets the jobs send in turns, until none has anything left that may go now. While only one has, it need not yield.
func (p *pass) submit(ctx context.Context) {
	for p.round(ctx, p.others) {
	}
}

// round gives each job one turn, and tells whether any may have something left. yield says for which jobs a turn ends after a slice.
func (p *pass) round(ctx context.Context, yield func(*jobRun) bool) (busy bool) {
	for _, r := range p.runs {
		if r.idle = true; r.send == nil || r.err != nil {
			continue
		}
		if stop := p.haltFor(r.job); stop != nil {
			r.err = &stopError{*stop}
			continue
		}
		before := r.report.Sent
		var finished bool
		if finished, r.err = r.turn(ctx, yield(r)); r.err != nil {
			p.heed(ctx, r)
			continue
		}
		r.idle = finished && r.report.Sent == before
		busy = busy || !r.idle
	}
	return busy
}

// others tells whether another job of the pass may have something to send.
func (p *pass) others(r *jobRun) bool {
	return slices.ContainsFunc(p.runs, func(o *jobRun) bool { return o != r && o.send != nil && o.err == nil })
}

// turn sends a part of what is due; what waited for a parent goes as soon as the parent has gone.
func (r *jobRun) turn(ctx context.Context, yield bool) (finished bool, err error) {
	moved, err := r.adoptOrphans(ctx)
	if err != nil {
		return false, err
	}
	r.send.again = r.send.again || moved > 0
	rows := 0
	if yield {
		rows = sliceRows
	}
	for {
		if finished, err = r.send.run(ctx, rows); err != nil || !finished {
			return finished, err
		}
		more, err := r.awaitFormer(ctx)
		if err != nil || !more {
			return true, err
		}
		r.send.after = 0 // rows that came back unsent are due here
	}
}

// heed notes a stop that other jobs would meet too.
func (p *pass) heed(ctx context.Context, r *jobRun) {
	if r.err == nil {
		return
	}
	if stop := r.stopOf(r.err); stop.All || stop.Sends != "" {
		p.halts = append(p.halts, stop)
	}
}

// haltFor is the reason why a job would not get further, met by another job of the pass; nil when there is none.
func (p *pass) haltFor(job *Job) *trade.Stop {
	i := slices.IndexFunc(p.halts, func(s trade.Stop) bool { return s.All || s.Sends == job.Spec.Sends })
	if i < 0 {
		return nil
	}
	stop := p.halts[i]
	return &stop
}

// conclude makes and stores the reports, in the order of the jobs.
func (p *pass) conclude(ctx context.Context) []trade.RunReport {
	var reports []trade.RunReport
	for _, r := range p.runs {
		reports = append(reports, p.end(ctx, r))
	}
	return reports
}

// end makes and stores the report of one job.
func (p *pass) end(ctx context.Context, r *jobRun) trade.RunReport {
	if r.report.ID == "" {
		return r.notRun(ctx)
	}
	return r.conclude(ctx, r.err)
}

// close gives the leases back.
func (p *pass) close(ctx context.Context) {
	defer p.crew.rested()
	for _, r := range p.runs {
		r.release(ctx)
	}
}

// release gives the lease of a run back.
func (r *jobRun) release(ctx context.Context) {
	if r.keeper == nil {
		return
	}
	r.keeper.close()
	if err := r.Ledger.ReleaseLease(context.WithoutCancel(ctx), r.lease); err != nil {
		r.log.Warn("the lease was not given back; it ends by itself", zap.Error(err))
	}
}

// notRun reports a job that did not begin: it is paused, an earlier one met a fault that it would meet too, or a signal came, which leaves it as it was.
func (r *jobRun) notRun(ctx context.Context) trade.RunReport {
	ctx = context.WithoutCancel(ctx)
	r.countStates(ctx)
	if r.stopped != nil {
		r.stopped(r)
	}
	if !r.pausedBefore && r.report.Stopped.Code != string(stopInterrupt) {
		r.setStatus(ctx, trade.JobStatus{Job: r.job.Name(), State: trade.Stopped, Stop: r.report.Stopped, Since: r.Clock.Now()})
	}
	return r.report
}

// pausedStop is the reason of a job that a person, or a brake, has paused.
func pausedStop(status trade.JobStatus) *trade.Stop {
	if status.Stop != nil && status.Stop.Brake != nil {
		return status.Stop
	}
	return &trade.Stop{
		Code: string(stopPaused), Text: "the job is paused: " + stopText(status.Stop) + "; `safrasync resume " + status.Job + "` ends that",
	}
}

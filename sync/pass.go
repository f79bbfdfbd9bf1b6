package sync

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// sliceRows is how many rows a job sends before the other jobs of the pass have their turn: the
// deliveries of the first contracts do not wait for the last contract.
const sliceRows = 1000

// pass is one call of Sync.
type pass struct {
	engine  *Engine
	opts    Options
	traffic *sending.Traffic
	runs    []*jobPass
	halts   []trade.Stop   // that reach further than the job which met them
	stopped func(*jobPass) // told of a run with a stop before it is stored; optional
}

// Sync makes one pass over the named jobs (none named: all), parents first: it reads the ERP for
// all of them, then sends, in turns. The reports are complete also when a job stopped; the error is
// for what no report can say: a job that another process runs (*trade.LeasedError), a name that no
// job has.
func (e *Engine) Sync(ctx context.Context, names []string, opts Options) ([]trade.RunReport, error) {
	jobs, err := e.env.Pick(names)
	if err != nil {
		return nil, err
	}
	if opts.DryRun {
		return e.DryRun(ctx, jobs, rehearse.Asked{Sweep: opts.Sweep, Resync: opts.Resync, Planned: opts.Planned}), nil
	}
	defer e.crew.Join(ctx, "sync")()
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
	return &pass{engine: e, opts: opts, traffic: &sending.Traffic{Limiter: e.crew.Pace()}}
}

// begin opens the run of one job and reads the ERP. What keeps it from sending is in the run; the
// error is for what no report can say.
func (p *pass) begin(ctx context.Context, job *mapping.Job) error {
	now := p.engine.Clock.Now()
	id := uuid.Must(uuid.NewV7()).String()
	r := stages(&run.Run{
		Env: p.engine.env, Job: job, Ledger: run.StoreOf(p.engine.Ledger), Source: p.engine.Source, Now: now,
		Report: trade.RunReport{ID: id, Job: job.Name(), StartedAt: now},
		Log:    p.engine.Log.With(zap.String("job", job.Name()), zap.String("run", id)),
	})
	r.runs, r.stopped, r.ration = p.engine.Ledger, p.stopped, sending.NewRowLimit(p.opts.Keys[job.Name()], p.opts.Limit)
	status, err := p.engine.Ledger.JobStatus(context.WithoutCancel(ctx), job.Name())
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		p.halts = append(p.halts, outcome.Interrupted())
	}
	if stop := p.haltFor(job); stop != nil || status.State == trade.Paused {
		r.run.Report.ID = "" // it never began
		if r.pausedBefore = status.State == trade.Paused; r.pausedBefore {
			stop = run.PausedStop(status)
		}
		r.run.Report.Stopped = stop
		p.runs = append(p.runs, r)
		return nil
	}
	asked := p.engine.Clock.Boot()
	r.run.Lease, err = p.engine.Ledger.AcquireLease(context.WithoutCancel(ctx), job.Name(), p.engine.Owner)
	var other *trade.OtherPlatformError
	if errors.As(err, &other) || errors.Is(err, trade.ErrOtherServer) {
		stop := run.StopOf(err)
		r.run.Report.ID, r.run.Report.Stopped = "", &stop
		p.halts, p.runs = append(p.halts, stop), append(p.runs, r)
		return nil
	}
	if err != nil {
		return err
	}
	r.run.Keeper = cluster.Keep(ctx, p.engine.Ledger, r.run.Lease, p.engine.Clock, asked, r.tend)
	p.runs = append(p.runs, r)
	r.setStatus(ctx, trade.JobStatus{Job: job.Name(), State: trade.Running, Since: now})
	if r.err = r.open(ctx, p.opts); r.err == nil {
		if r.send, r.err = sending.New(r.run, r.recheck, r.brakes, r.ration, p.traffic, p.engine.Ledger,
			p.engine.Ledger, status); r.err == nil {
			r.send.AnyHour = p.opts.AnyHour
		}
	}
	p.noteStop(ctx, r)
	return nil
}

// submit lets the jobs send in turns, until none has anything left that may go now. While only one
// has, it need not yield.
func (p *pass) submit(ctx context.Context) {
	for p.round(ctx, p.others) {
	}
}

// round gives each job one turn, and tells whether any may have something left. yield says for
// which jobs a turn ends after a slice.
func (p *pass) round(ctx context.Context, yield func(*jobPass) bool) (busy bool) {
	for _, r := range p.runs {
		if r.idle = true; r.send == nil || r.err != nil {
			continue
		}
		if stop := p.haltFor(r.run.Job); stop != nil {
			r.err = &outcome.StopError{Stop: *stop}
			continue
		}
		before := r.run.Report.Sent
		var finished bool
		if finished, r.err = r.turn(ctx, yield(r)); r.err != nil {
			p.noteStop(ctx, r)
			continue
		}
		r.idle = finished && r.run.Report.Sent == before
		busy = busy || !r.idle
	}
	return busy
}

// others tells whether another job of the pass may have something to send.
func (p *pass) others(r *jobPass) bool {
	return slices.ContainsFunc(p.runs, func(o *jobPass) bool { return o != r && o.send != nil && o.err == nil })
}

// noteStop notes a stop that other jobs would meet too.
func (p *pass) noteStop(ctx context.Context, r *jobPass) {
	if r.err == nil {
		return
	}
	if stop := run.StopOf(r.err); stop.All || stop.Sends != "" {
		p.halts = append(p.halts, stop)
	}
}

// haltFor is the reason why a job would not get further, met by another job of the pass; nil when
// there is none.
func (p *pass) haltFor(job *mapping.Job) *trade.Stop {
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
func (p *pass) end(ctx context.Context, r *jobPass) trade.RunReport {
	if r.run.Report.ID == "" {
		return r.notRun(ctx)
	}
	return r.conclude(ctx, r.err)
}

// close gives the leases back.
func (p *pass) close(ctx context.Context) {
	defer p.engine.crew.Rested()
	for _, r := range p.runs {
		r.release(ctx)
	}
}

// release gives the lease of a run back.
func (r *jobPass) release(ctx context.Context) {
	if r.run.Keeper == nil {
		return
	}
	r.run.Keeper.Close()
	if err := r.runs.ReleaseLease(context.WithoutCancel(ctx), r.run.Lease); err != nil {
		r.run.Log.Warn("the lease was not given back; it ends by itself", zap.Error(err))
	}
}

// notRun reports a job that did not begin: it is paused, an earlier one met a fault that it would
// meet too, or a signal came, which leaves it as it was.
func (r *jobPass) notRun(ctx context.Context) trade.RunReport {
	ctx = context.WithoutCancel(ctx)
	r.run.CountStates(ctx)
	if r.stopped != nil {
		r.stopped(r)
	}
	if !r.pausedBefore && r.run.Report.Stopped.Code != string(outcome.StopInterrupt) {
		r.setStatus(ctx, trade.JobStatus{
			Job: r.run.Job.Name(), State: trade.Stopped, Stop: r.run.Report.Stopped,
			Since: r.run.Env.Clock.Now(),
		})
	}
	return r.run.Report
}

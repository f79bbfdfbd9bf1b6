// The way of a row: Discover → Recheck → Intend → Send → Settle.
//
//	Discover  open, below, then discovery.Discoverer.Discover: the row is read, mapped (package
//	          mapping), and recorded as an entry; the brakes judge what came. A crash leaves the
//	          cursor unchanged: the row is read again.
//	Send      turn, below, then sending.Sender.Send, which tells the rest on one page (loop.go): the
//	          row is rechecked, its intent is stored, the request leaves, the answer is judged by
//	          package outcome and stored. A crash between the intent and that leaves a doubt.
//
// A dry run discovers and rechecks, on interfaces that only read (dryrun/run.go).

package sync

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// sliceRows is how many rows a job sends before the other jobs of the pass have their turn, so that
// the deliveries of the first contracts need not wait for the last contract.
const sliceRows = 1000

// Sync makes one pass over the named jobs, or over all if none is named, parents first: it reads
// the ERP for all of them, then lets them send in turns. The reports are complete even if a job
// stopped. The error is for what no report can hold: a job that another process runs
// (*trade.LeasedError), or an unknown name.
func (e *Engine) Sync(ctx context.Context, names []string, opts Options) ([]trade.RunReport, error) {
	jobs, err := e.Pick(names)
	if err != nil {
		return nil, err
	}
	if opts.DryRun {
		return e.DryRun(ctx, jobs, dryrun.Asked{
			Sweep: opts.Sweep, Resync: opts.Resync, Planned: opts.Planned, Progress: opts.Progress,
		}), nil
	}
	defer e.Member.Join(ctx, "sync")()
	p := e.newPass(opts)
	defer p.close(ctx)
	var leased error
	for _, job := range jobs {
		err := p.begin(ctx, job)
		switch {
		case isLeased(err):
			leased = errors.Join(leased, err)
		case err != nil:
			for _, r := range p.runs {
				r.err = errors.Join(r.err, err)
			}
			return p.conclude(ctx), err
		}
	}
	for p.round(ctx, p.others) { // turns are cut into slices while another job may send
	}
	return p.conclude(ctx), leased
}

func (e *Engine) newPass(opts Options) *pass {
	return &pass{engine: e, opts: opts, traffic: &sending.Traffic{Pace: e.Platform.Pace()}}
}

// jobPass is one job in a pass: its run, and the stages of it.
type jobPass struct {
	*discovery.Discoverer
	runs    run.Runs
	send    *sending.Sender   // nil when nothing may be sent
	ration  *sending.RowLimit // which rows it may send, and how many
	err     error             // why the run ended before its work was done
	stopped func(*jobPass)    // optional: called before a stop is stored; may set its Until

	pausedBefore bool // not begun, because the job is paused
	stopStays    bool // it only records, so the stop that the job has is none of its business
	idle         bool // its last turn found nothing that may be sent now
}

// begin opens the run of one job and reads the ERP. What keeps the job from sending is stored in
// its run; the error is for what no report can hold.
func (p *pass) begin(ctx context.Context, job *mapping.Job) error {
	now := p.engine.Clock.Now()
	id := cmp.Or(p.opts.RunID, uuid.Must(uuid.NewV7()).String())
	r := &jobPass{Discoverer: discovery.New(&run.Run{
		Env: &p.engine.Env, Job: job, Ledger: p.engine.Ledger, Source: p.engine.Source, Now: now,
		Report: trade.RunReport{ID: id, Job: job.Name(), StartedAt: now},
		Log:    p.engine.Log.With(zap.String("job", job.Name()), zap.String("run", id)),
	}), runs: p.engine.Ledger, stopped: p.stopped}
	r.ration = sending.NewRowLimit(p.opts.Keys[job.Name()], p.opts.Limit)
	status, err := p.engine.Ledger.JobStatus(context.WithoutCancel(ctx), job.Name())
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		p.halts = append(p.halts, outcome.Interrupted())
	}
	if stop := p.haltFor(job); stop != nil || status.State == trade.Paused && !p.opts.RecordOnly && !absent(status) {
		r.Report.ID = "" // it never began
		r.pausedBefore = status.State == trade.Paused
		if r.pausedBefore {
			stop = run.PausedStop(status)
		}
		r.Report.Stopped = stop
		p.runs = append(p.runs, r)
		return nil
	}
	asked := p.engine.Clock.Boot()
	r.Lease, err = p.engine.Ledger.AcquireLease(context.WithoutCancel(ctx), job.Name(), p.engine.Owner)
	_, other := errors.AsType[*trade.OtherPlatformError](err)
	if other || errors.Is(err, trade.ErrOtherServer) || errors.Is(err, trade.ErrWentBack) {
		stop := run.StopOf(err)
		r.Report.ID, r.Report.Stopped = "", &stop
		p.halts, p.runs = append(p.halts, stop), append(p.runs, r)
		return nil
	}
	if err != nil {
		return err
	}
	// with each renewal of the lease: a former holder that was alive when the run began may have died
	// since; then its rows in flight become in doubt
	tend := func(ctx context.Context) { r.settleFormer(ctx) }
	r.Keeper = cluster.StartRenewal(ctx, p.engine.Ledger, r.Lease, p.engine.Clock, asked, tend)
	p.runs = append(p.runs, r)
	r.err = p.engine.signOfLife(ctx, &status)
	r.stopStays = status.Stop != nil && (p.opts.RecordOnly || status.State == trade.Paused)
	r.setStatus(ctx, trade.JobStatus{Job: job.Name(), State: trade.Running, Since: now})
	if r.err == nil || errors.Is(r.err, trade.ErrUnwitnessed) { // what the ERP has is recorded all the same
		r.err = cmp.Or(r.open(ctx, p.opts), r.err)
	}
	switch {
	case p.opts.RecordOnly:
		r.Note(trade.Say("note.recorded_only"))
	case r.err == nil && status.State == trade.Paused:
		r.err = &outcome.StopError{Stop: *run.PausedStop(status)}
	case r.err == nil:
		r.send, r.err = sending.New(r.Run, r.Recheck, r.Brakes, r.ration, p.traffic, p.engine.Ledger,
			p.engine.Ledger, status)
		if r.err == nil {
			r.send.AnyHour, r.send.Renew = p.opts.AnyHour, r.RenewReferences
		}
	}
	p.noteStop(r)
	return nil
}

// signOfLife tells the ledger that a job is about to be read and sent. After a long silence of all
// who send, that pauses the jobs (outcome.StopAbsent); status then says so. If the ledger has a
// witness that cannot be read, it returns trade.ErrUnwitnessed.
func (e *Engine) signOfLife(ctx context.Context, status *trade.JobStatus) error {
	if e.Brakes.Absence == 0 {
		return e.Ledger.Witnessed(context.WithoutCancel(ctx))
	}
	var jobs []string
	for _, j := range e.Jobs {
		jobs = append(jobs, j.Name())
	}
	ctx = context.WithoutCancel(ctx)
	if err := e.Ledger.SignOfLife(ctx, jobs, e.Clock.Now(), e.Brakes.Absence); err != nil {
		return err
	}
	var err error
	*status, err = e.Ledger.JobStatus(ctx, status.Job)
	return cmp.Or(err, e.Ledger.Witnessed(ctx))
}

// absent reports whether a job is paused because all who send were silent, and for no other reason.
// It is read and recorded all the same.
func absent(status trade.JobStatus) bool {
	return status.State == trade.Paused && status.Stop != nil && status.Stop.Brake != nil &&
		status.Stop.Code == string(outcome.StopAbsent) && status.Stop.Brake.Paused == nil
}

// open settles what an earlier process left in flight, then reads the ERP.
func (r *jobPass) open(ctx context.Context, opts Options) error {
	if err := r.runs.StartRun(ctx, r.Report); err != nil {
		return err
	}
	if err := failpoint.Hit("run.started"); err != nil {
		return err
	}
	doubts, err := r.runs.Recover(ctx, r.Lease, r.Now)
	if err != nil {
		return err
	}
	if err := failpoint.Hit("run.recovered"); err != nil {
		return err
	}
	if doubts > 0 {
		r.Note(trade.Say("note.in_flight", "rows", doubts))
	}
	r.watch(ctx)
	return r.Discover(ctx, opts.Sweep, opts.Resync)
}

// round gives each job one turn, and reports whether any of them may have something left. yield
// reports whether a job's turn ends after a slice.
func (p *pass) round(ctx context.Context, yield func(*jobPass) bool) (busy bool) {
	for _, r := range p.runs {
		r.idle = true
		if r.send == nil || r.err != nil {
			continue
		}
		if stop := p.haltFor(r.Job); stop != nil {
			r.err = &outcome.StopError{Stop: *stop}
			continue
		}
		before := r.Report.Sent
		var finished bool
		finished, r.err = r.turn(ctx, yield(r))
		if r.err != nil {
			p.noteStop(r)
			continue
		}
		r.idle = finished && r.Report.Sent == before
		busy = busy || !r.idle
	}
	return busy
}

// turn sends a part of what is due. Rows that waited for a parent are due as soon as it was sent.
func (r *jobPass) turn(ctx context.Context, yield bool) (finished bool, err error) {
	moved, err := r.AdoptOrphans(ctx)
	if err != nil {
		return false, err
	}
	if moved > 0 {
		r.send.DueAgain()
	}
	rows := 0
	if yield {
		rows = sliceRows
	}
	for {
		finished, err = r.send.Send(ctx, rows)
		if err != nil || !finished {
			return finished, err
		}
		renewed, err := r.FinishRenewal(ctx)
		if err != nil {
			return true, err
		}
		more := renewed
		if !renewed {
			more, err = r.awaitFormer(ctx)
		}
		if err != nil || !more {
			return true, err
		}
		r.send.FromStart() // rows that waited, or that another instance gave up unsent, are due
	}
}

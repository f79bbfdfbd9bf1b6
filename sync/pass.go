// The stops and the end of a pass; pipeline.go has its beginning.

package sync

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// pass is one call of Sync.
type pass struct {
	engine  *Engine
	opts    Options
	traffic *sending.Traffic
	runs    []*jobPass
	halts   []trade.Stop   // stops that concern more than the job that met them
	stopped func(*jobPass) // optional: called for a run with a stop before the stop is stored
}

// others reports whether another job of the pass may have something to send.
func (p *pass) others(r *jobPass) bool {
	return slices.ContainsFunc(p.runs, func(o *jobPass) bool { return o != r && o.send != nil && o.err == nil })
}

// noteStop records a stop that other jobs would meet too.
func (p *pass) noteStop(r *jobPass) {
	if r.err == nil {
		return
	}
	if stop := run.StopOf(r.err); stop.All || stop.Sends != "" {
		p.halts = append(p.halts, stop)
	}
}

// haltFor returns the stop, met by another job of the pass, that this job would meet too, or nil.
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
		reports = append(reports, r.end(ctx))
	}
	return reports
}

// close releases the leases.
func (p *pass) close(ctx context.Context) {
	for _, r := range p.runs {
		r.release(ctx)
	}
}

// release gives up the lease of a run.
func (r *jobPass) release(ctx context.Context) {
	if r.Keeper == nil {
		return
	}
	r.Keeper.Close()
	if err := r.runs.ReleaseLease(context.WithoutCancel(ctx), r.Lease); err != nil {
		r.Log.Warn("the lease was not given back; it ends by itself", zap.Error(err))
	}
}

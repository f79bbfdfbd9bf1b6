// The daemon's pass: it adds jobs as they become due.

package sync

import (
	"context"
	"errors"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// dueJob is a job that is to run now.
type dueJob struct {
	job   *mapping.Job
	sweep bool // compare everything in scope
	probe bool // its circuit was open: send one request at a time; the first failure opens it again
}

// follow makes a pass over the jobs that are due; between two slices it adds the jobs that have
// become due meanwhile. A job whose work is done is concluded as soon as no parent of it in the
// pass can give it more, so that another process may take its lease; it begins again when it is due
// again. follow returns when nothing is left and nothing is due. When ctx ends, it first waits for
// what is in flight.
func (e *Engine) follow(ctx context.Context, feed *schedulerFeed) {
	p := e.newPass(Options{})
	defer p.close(ctx)
	p.stopped = func(r *jobPass) {
		feed.mu.Lock()
		defer feed.mu.Unlock()
		if until := feed.stopped(r.Job, *r.Report.Stopped); !until.IsZero() { // else time does not end it
			r.Report.Stopped.Until = until
		}
	}
	for {
		for _, a := range feed.due(ctx, p.idle) {
			p.dismiss(ctx, feed, func(r *jobPass) bool { return r.Job == a.job })
			// The feed has already taken into account the stops that other jobs met.
			p.halts = slices.DeleteFunc(p.halts, func(s trade.Stop) bool {
				return s.All || s.Sends == a.job.Spec.Sends
			})
			p.opts.Sweep = a.sweep
			if a.probe {
				p.traffic.Careful, p.traffic.Probing = true, true
			}
			if err := p.begin(ctx, a.job); err != nil {
				feed.ended(a.job, trade.RunReport{}, err)
			}
		}
		if len(p.runs) == 0 {
			return
		}
		p.round(ctx, func(*jobPass) bool { return true })
		p.dismiss(ctx, feed, func(r *jobPass) bool { return r.idle && !p.mayGet(r) })
	}
}

// idle reports whether the pass has no run of the job that may still have work.
func (p *pass) idle(job string) bool {
	return !slices.ContainsFunc(p.runs, func(r *jobPass) bool { return r.Job.Name() == job && !r.idle })
}

// mayGet reports whether another job of the pass that is not done yet may send what rows of this
// one wait for.
func (p *pass) mayGet(r *jobPass) bool {
	if r.send == nil || r.err != nil {
		return false
	}
	above := p.above(r.Job)
	return slices.ContainsFunc(p.runs, func(o *jobPass) bool { return !o.idle && above[o.Job.Name()] })
}

// above returns the names of the jobs on which a job depends, directly or through others.
func (p *pass) above(job *mapping.Job) map[string]bool {
	names := map[string]bool{}
	for open := slices.Clone(job.Mapping.SentBy); len(open) > 0; open = open[1:] {
		if names[open[0]] {
			continue
		}
		names[open[0]] = true
		if parent := p.engine.Configured(open[0]); parent != nil {
			open = append(open, parent.Mapping.SentBy...)
		}
	}
	return names
}

// dismiss ends the runs that which selects: it stores their reports and releases their leases.
func (p *pass) dismiss(ctx context.Context, feed *schedulerFeed, which func(*jobPass) bool) {
	var out []*jobPass
	p.runs = slices.DeleteFunc(p.runs, func(r *jobPass) bool {
		if !which(r) {
			return false
		}
		out = append(out, r)
		return true
	})
	for _, r := range out {
		report := r.end(ctx)
		r.release(ctx)
		feed.ended(r.Job, report, nil)
	}
}

// isLeased reports whether a job could not begin because another process runs it.
func isLeased(err error) bool {
	_, leased := errors.AsType[*trade.LeasedError](err)
	return leased
}

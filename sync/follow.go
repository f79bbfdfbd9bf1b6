// The daemon's pass: it takes up jobs as they become due.

package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// dueJob is a job that is to run now.
type dueJob struct {
	job   *mapping.Job
	sweep bool // compare everything in scope
	probe bool // its circuit was open: one request at a time, and the first failure opens it again
}

// jobFeed is where a pass of the daemon gets its jobs from, and whom it tells of them. Every call
// is made by the goroutine of the pass.
type jobFeed interface {
	// due returns the jobs that are to run now, parents first. May a job whose run has nothing
	// left, but waits in the pass for its parents, begin again? idle says so.
	due(ctx context.Context, idle func(job string) bool) []dueJob
	// stopUntil is told of a stop before it is stored, and says until when it holds; the zero time
	// when no time ends it.
	stopUntil(job *mapping.Job, stop trade.Stop) time.Time
	// ended is told when a job is out of the pass: report of what it did, ID "" when it did not
	// begin, or err, why it could not.
	ended(job *mapping.Job, report trade.RunReport, err error)
}

// follow makes a pass over the jobs that are due, and takes up between two slices what becomes due
// meanwhile. A job whose work is done is concluded as soon as no parent of it in the pass may still
// give it some, so that others may have it, and begins again when it is due again. It returns when
// nothing is left and nothing is due; when ctx ends, what is in flight is awaited first.
func (e *Engine) follow(ctx context.Context, feed jobFeed) {
	p := e.newPass(Options{})
	defer p.close(ctx)
	p.stopped = func(r *jobPass) {
		if until := feed.stopUntil(r.run.Job, *r.run.Report.Stopped); !until.IsZero() {
			r.run.Report.Stopped.Until = until
		}
	}
	for {
		for _, a := range feed.due(ctx, p.idle) {
			p.take(ctx, feed, a)
		}
		if len(p.runs) == 0 {
			return
		}
		p.round(ctx, func(*jobPass) bool { return true })
		p.dismiss(ctx, feed, func(r *jobPass) bool { return r.idle && !p.mayGet(r) })
	}
}

// take begins the run of a job that is due, after the end of an earlier one that waits in the pass.
func (p *pass) take(ctx context.Context, feed jobFeed, a dueJob) {
	p.dismiss(ctx, feed, func(r *jobPass) bool { return r.run.Job == a.job })
	// Whoever asks has judged what other jobs met before.
	p.halts = slices.DeleteFunc(p.halts, func(s trade.Stop) bool { return s.All || s.Sends == a.job.Spec.Sends })
	if p.opts.Sweep = a.sweep; a.probe {
		p.traffic.Careful, p.traffic.Probing = true, true
	}
	if err := p.begin(ctx, a.job); err != nil {
		feed.ended(a.job, trade.RunReport{}, err)
	}
}

// idle reports whether a job has no run in the pass that may still have work.
func (p *pass) idle(job string) bool {
	return !slices.ContainsFunc(p.runs, func(r *jobPass) bool { return r.run.Job.Name() == job && !r.idle })
}

// mayGet reports whether a job of the pass that is not done yet may give rows of this one what they
// wait for.
func (p *pass) mayGet(r *jobPass) bool {
	if r.send == nil || r.err != nil {
		return false
	}
	above := p.above(r.run.Job)
	return slices.ContainsFunc(p.runs, func(o *jobPass) bool { return !o.idle && above[o.run.Job.Name()] })
}

// above returns the names of the jobs on which a job hangs, through however many others.
func (p *pass) above(job *mapping.Job) map[string]bool {
	names := map[string]bool{}
	for open := slices.Clone(job.Mapping.SentBy); len(open) > 0; open = open[1:] {
		if names[open[0]] {
			continue
		}
		names[open[0]] = true
		if parent := p.engine.env.Configured(open[0]); parent != nil {
			open = append(open, parent.Mapping.SentBy...)
		}
	}
	return names
}

// dismiss ends runs: their reports are stored, and their leases given back.
func (p *pass) dismiss(ctx context.Context, feed jobFeed, which func(*jobPass) bool) {
	var out []*jobPass
	p.runs = slices.DeleteFunc(p.runs, func(r *jobPass) bool {
		if !which(r) {
			return false
		}
		out = append(out, r)
		return true
	})
	for _, r := range out {
		report := p.end(ctx, r)
		r.release(ctx)
		feed.ended(r.run.Job, report, nil)
	}
}

// isLeased reports whether a job could not begin because another process runs it.
func isLeased(err error) bool {
	var leased *trade.LeasedError
	return errors.As(err, &leased)
}

// Jobs of other instances: what the dead held is taken over.

package sync

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Several instances share the jobs: each job is read and sent by the holder of its lease alone.
// What an instance does about the others is here: it takes over what the dead held, leaves alone
// what the living hold, and waits for what a former holder has in flight.

const (
	othersEvery  = time.Second            // how often an instance looks at the leases
	landingEvery = 100 * time.Millisecond // how often a holder looks whether the rows of a former one have landed
)

// watchOthers looks at the leases until ctx ends.
func (s *Scheduler) watchOthers(ctx context.Context) {
	tick := time.NewTicker(othersEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.watchLeases(ctx)
	}
}

// watchLeases makes the jobs of dead holders due, and clears up what this instance left of jobs
// that others hold.
func (s *Scheduler) watchLeases(ctx context.Context) {
	holders := s.holders(ctx)
	var left []trade.Holder
	s.mu.Lock()
	for _, t := range s.jobs {
		name := t.job.Name()
		orphaned := slices.ContainsFunc(holders, func(h trade.Holder) bool {
			return h.Job == name && h.Dead && h.Owner.Instance != s.Engine.Owner.Instance
		})
		if t.again = t.again || orphaned && !t.running; t.again && !t.running {
			s.wakeLoop()
		}
		if !t.running && s.Engine.crew.HasLeft(name) { // nothing of it is in flight here
			for _, h := range holders {
				if h.Job == name && !h.Dead && h.Owner.Instance != s.Engine.Owner.Instance {
					left = append(left, h)
				}
			}
		}
	}
	s.mu.Unlock()
	for _, h := range left {
		s.markLostResults(ctx, h)
	}
}

// markLostResults makes rows of this instance in doubt because the ledger did not take their
// results, while another instance holds the job.
func (s *Scheduler) markLostResults(ctx context.Context, h trade.Holder) {
	e := s.Engine
	n, err := e.Ledger.Jobs.RecoverOwn(ctx, e.Owner, h, e.Clock.Now())
	if err != nil {
		s.log.Warn("rows whose results were not stored stay as they are for now", zap.String("job", h.Job),
			zap.Error(err))
		return
	}
	e.crew.Recovered(h.Job)
	s.log.Warn("rows whose results the ledger did not take are in doubt now", zap.String("job", h.Job),
		zap.Int("rows", n))
}

// parentRunsElsewhere reports whether another living instance runs a job on which this one hangs:
// its rows would wait for what that one sends, and the instance that runs the parents takes up the
// children too.
func (s *Scheduler) parentRunsElsewhere(holders []trade.Holder, job *mapping.Job) bool {
	p := pass{engine: s.Engine}
	above := p.above(job)
	return slices.ContainsFunc(holders, func(h trade.Holder) bool {
		return above[h.Job] && !h.Dead && h.Owner.Instance != s.Engine.Owner.Instance
	})
}

// runsElsewhere reports whether another living instance runs a job.
func (s *Scheduler) runsElsewhere(holders []trade.Holder, job *mapping.Job) bool {
	return slices.ContainsFunc(holders, func(h trade.Holder) bool {
		return h.Job == job.Name() && !h.Dead && h.Owner.Instance != s.Engine.Owner.Instance
	})
}

// holders are those who hold leases; none for an instance that is alone.
func (s *Scheduler) holders(ctx context.Context) []trade.Holder {
	if !s.Engine.Several {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	holders, err := s.Engine.Ledger.Jobs.Leases(ctx)
	if err != nil { // whoever takes a lease is told
		return nil
	}
	return holders
}

// tend is done with each renewal of the lease: a former holder that was alive when the run began
// may have died since, and what it had in flight becomes in doubt.
func (r *jobPass) tend(ctx context.Context) {
	if !r.run.Env.Member.Together() {
		return
	}
	doubts, err := r.runs.Recover(ctx, r.run.Lease, r.run.Env.Clock.Now())
	if err != nil {
		r.run.Log.Warn("what a former holder of the job left in flight was not found out", zap.Error(err))
	} else if doubts > 0 {
		r.run.Log.Warn("rows were in flight when another instance ended; they are in doubt now",
			zap.Int("rows", doubts))
		r.watch(ctx)
	}
}

// awaitFormer waits until what a former holder of the job, which may live, has in flight has
// landed: children come after their parents, and sums are compared when nothing moves. more tells
// that rows may be due again. It ends when the run does, and when it has taken longer than any
// request may.
func (r *jobPass) awaitFormer(ctx context.Context) (more bool, err error) {
	if !r.run.Env.Member.Together() {
		return false, nil
	}
	limit := r.run.Env.Clock.Boot() + r.run.Env.Limits.Timeout + r.run.Env.Limits.AnswersKept() + 2*cluster.RenewEvery
	tick := time.NewTicker(landingEvery)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		tallies, err := r.run.Ledger.Counts(ctx, r.run.Job.Name())
		if err != nil || !slices.ContainsFunc(tallies,
			func(t trade.Tally) bool { return t.State == trade.Sending && t.Count > 0 }) {
			return err == nil && turn > 0, err
		}
		if turn%10 == 9 {
			r.tend(ctx)
		}
		if r.run.Env.Clock.Boot() > limit {
			r.run.Note("rows that another instance has in flight were not awaited any longer")
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
	}
}

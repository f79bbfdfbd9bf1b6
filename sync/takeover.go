// Instances that share a ledger: an instance takes over the jobs of dead ones.

package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Several instances share the jobs: only the holder of a job's lease reads and sends it. This file
// has what an instance does about the others: it takes over the jobs of dead ones, leaves alone
// those of living ones, and waits for what a former holder has in flight.

const (
	othersEvery  = time.Second            // how often an instance reads the leases
	landingEvery = 100 * time.Millisecond // how often awaitFormer counts the rows in flight
)

// watchOthers makes the jobs of dead holders due, and settles the rows that this instance left in flight
// in jobs that others hold now, until ctx ends.
func (s *Scheduler) watchOthers(ctx context.Context) {
	tick := time.NewTicker(othersEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		holders := s.holders(ctx)
		var left []trade.Holder
		s.mu.Lock()
		for _, t := range s.jobs {
			name := t.job.Name()
			orphaned := slices.ContainsFunc(holders, func(h trade.Holder) bool { return h.Job == name && h.Dead })
			t.again = t.again || orphaned && !t.running
			if t.again && !t.running {
				s.wakeLoop()
			}
			if !t.running && s.Engine.Member.HasUnstored(name) { // nothing of it is in flight here
				for _, h := range holders {
					if h.Job == name && !h.Dead {
						left = append(left, h)
					}
				}
			}
		}
		s.mu.Unlock()
		// rows of this instance whose results the ledger did not store, while another holds the job
		for _, h := range left {
			n, err := s.Engine.Ledger.RecoverOwn(ctx, s.Engine.Owner, h, s.Engine.Clock.Now())
			if err != nil {
				s.log.Warn("rows whose results were not stored stay as they are for now", zap.String("job", h.Job),
					zap.Error(err))
				continue
			}
			s.Engine.Member.Recovered(h.Job)
			s.log.Warn("rows whose results the ledger did not take are in doubt now", zap.String("job", h.Job),
				zap.Int("rows", n))
		}
	}
}

// parentRunsElsewhere reports whether another living instance runs a job on which this one depends.
// Its rows would wait for that instance's records, and the instance that runs the parents runs the
// children too.
func (s *Scheduler) parentRunsElsewhere(holders []trade.Holder, job *mapping.Job) bool {
	p := pass{engine: s.Engine}
	above := p.above(job)
	return slices.ContainsFunc(holders, func(h trade.Holder) bool { return above[h.Job] && !h.Dead })
}

// holders returns the other instances that hold leases; none if this instance is alone.
func (s *Scheduler) holders(ctx context.Context) []trade.Holder {
	if !s.Engine.Several {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	holders, err := s.Engine.Ledger.Leases(ctx)
	if err != nil { // whoever acquires a lease meets the fault too
		return nil
	}
	return slices.DeleteFunc(holders,
		func(h trade.Holder) bool { return h.Owner.Instance == s.Engine.Owner.Instance })
}

// settleFormer makes rows in doubt that a former holder had in flight, and reports whether the lease
// is still in the ledger. What to do without it is for the caller: the next renewal of the lease tells
// why it is not.
func (r *jobPass) settleFormer(ctx context.Context) (held bool) {
	if !r.Member.Together() {
		return true
	}
	doubts, err := r.runs.Recover(ctx, r.Lease, r.Clock.Now())
	switch {
	case errors.Is(err, trade.ErrLeaseLost):
		return false
	case err != nil:
		r.Log.Warn("what a former holder of the job left in flight was not found out", zap.Error(err))
	case doubts > 0:
		r.Log.Warn("rows were in flight when another instance ended; they are in doubt now",
			zap.Int("rows", doubts))
		r.watch(ctx)
	}
	return true
}

// awaitFormer waits until the rows that a former holder of the job has in flight are settled,
// because children come after their parents, and rows are counted when nothing changes. That
// holder may be alive. more reports that rows may be due again. The wait ends with the run, when the
// lease is lost, and when it has taken longer than any request may.
func (r *jobPass) awaitFormer(ctx context.Context) (more bool, err error) {
	if !r.Member.Together() {
		return false, nil
	}
	limit := r.Clock.Boot() + r.Limits.Timeout + r.Limits.AnswerTimeout() + 2*cluster.RenewEvery
	tick := time.NewTicker(landingEvery)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		flying, err := r.Ledger.CountIn(ctx, r.Job.Name(), trade.Sending)
		if err != nil || flying == 0 {
			return err == nil && turn > 0, err
		}
		if turn%10 == 9 && !r.settleFormer(ctx) {
			r.Keeper.Renew(ctx) // asks the ledger why
			return false, r.LeaseLost()
		}
		if r.Clock.Boot() > limit {
			r.Note(trade.Say("note.not_awaited"))
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
	}
}

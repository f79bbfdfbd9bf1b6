package sending

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// storing is a group on its way to the disk, and what becomes of it.
type storing struct {
	group   trade.Group
	flights []*inFlight
	settled []*result
	result  trade.GroupResult
	err     error
}

// store hands a group over to be made durable (I1), beside the flights.
func (s *Sender) store(ctx context.Context, group trade.Group, flights []*inFlight) {
	g := &storing{group: group, flights: flights, settled: s.commit.settling}
	s.commit.settling, s.commit.found, s.commit.lacking = nil, nil, nil
	for _, f := range flights {
		s.flights[f.Entry.ID] = true
	}
	s.commit.storing, s.commit.stored = g, make(chan struct{})
	if err := failpoint.Hit("group.chosen"); err != nil {
		g.err = err
		close(s.commit.stored)
		return
	}
	go func(done chan struct{}) {
		defer close(done)
		g.result, g.err = s.intents.Commit(context.WithoutCancel(ctx), s.Run.Lease, g.group)
	}(s.commit.stored)
}

// committed lets the claimed intents of a stored group go. An uncertain commit lets nothing go:
// what may be on disk as sending was not sent by us, and is closed as that.
func (s *Sender) committed(ctx context.Context) error {
	g, err := s.commit.storing, s.commit.storing.err
	s.commit.storing, s.commit.stored = nil, nil
	if err == nil {
		err = failpoint.Hit("group.stored")
	}
	if err != nil {
		return s.commitFailed(ctx, g, err)
	}
	if err := s.settled(ctx, g); err != nil {
		s.giveUp(slices.DeleteFunc(g.flights, func(f *inFlight) bool { return !s.claimed(g, f) }),
			"the run stopped before it was sent")
		return err
	}
	if g.result.LeaseLost {
		s.takeBack(g.flights)
		s.stopSending(s.Run.LeaseLost())
		return nil
	}
	if g.result.Paused { // what is on the wire is awaited and settled
		if err := s.pausedNow(ctx); err != nil {
			s.giveUp(slices.DeleteFunc(g.flights, func(f *inFlight) bool { return !s.claimed(g, f) }),
				"the run stopped before it was sent")
			return err
		}
	}
	if g.result.Stop != nil {
		s.stopSending(&outcome.StopError{Stop: *g.result.Stop})
	}
	var cleared []*inFlight
	for _, f := range g.flights {
		if !s.claimed(g, f) {
			continue
		}
		s.Run.Report.Sent++
		s.rowLimit.begins(f.Entry.ID)
		s.Load.countBegun(f.Entry)
		cleared = append(cleared, f)
	}
	s.dispatcher.release(cleared)
	s.Run.Env.Observe(run.Progress{
		Job: s.Run.Job.Name(), Phase: run.Sending, Done: s.Run.Report.Sent - len(s.flights),
		Total: max(s.queue.due, s.Run.Report.Sent),
	})
	return nil
}

// claimed tells whether the ledger took an intent; one that it did not take is nobody's.
func (s *Sender) claimed(g *storing, f *inFlight) bool {
	if g.result.Claimed[f.attempt.ID] {
		return true
	}
	s.takeBack([]*inFlight{f})
	if g.result.Elsewhere[f.attempt.ID] { // another job has sent its key: the next look says so
		s.queue.again, s.recheck.Alone = true, false
	}
	return false
}

// takeBack takes back flights that do not leave, and their questions: rows of other jobs may wait
// for the answers. They are no canary either.
func (s *Sender) takeBack(flights []*inFlight) {
	for _, f := range flights {
		delete(s.flights, f.Entry.ID)
		s.traffic.blocks.answered(f.Entry.ID)
		s.brakes.Untried(f.Entry.Key)
	}
}

package sync

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/trade"
)

// storing is a group on its way to the disk, and what becomes of it.
type storing struct {
	group   trade.Group
	flights []*flight
	settled []*landing
	result  trade.GroupResult
	err     error
}

// store hands a group over to be made durable (I1), beside the flights.
func (s *submission) store(ctx context.Context, group trade.Group, flights []*flight) {
	g := &storing{group: group, flights: flights, settled: s.settling}
	s.settling, s.found, s.lacking = nil, nil, nil
	for _, f := range flights {
		s.flights[f.entry.ID] = true
	}
	s.storing, s.stored = g, make(chan struct{})
	if err := failpoint.Hit("group.chosen"); err != nil {
		g.err = err
		close(s.stored)
		return
	}
	go func(done chan struct{}) {
		defer close(done)
		g.result, g.err = s.ledger.Commit(context.WithoutCancel(ctx), s.lease, g.group)
	}(s.stored)
}

// conclude lets the claimed intents of a stored group go. An uncertain commit lets nothing go: what may be on disk as sending was not sent by us, and is closed as that.
func (s *submission) conclude(ctx context.Context) error {
	g, err := s.storing, s.storing.err
	s.storing, s.stored = nil, nil
	if err == nil {
		err = failpoint.Hit("group.stored")
	}
	if err != nil {
		return s.commitFailed(ctx, g, err)
	}
	if err := s.settled(ctx, g); err != nil {
		s.giveUp(slices.DeleteFunc(g.flights, func(f *flight) bool { return !s.claimed(g, f) }), "the run stopped before it was sent")
		return err
	}
	if g.result.LeaseLost {
		s.land(g.flights)
		s.stopSending(s.leaseLost())
		return nil
	}
	if g.result.Paused { // what is on the wire is awaited and settled
		if err := s.pausedNow(ctx); err != nil {
			s.giveUp(slices.DeleteFunc(g.flights, func(f *flight) bool { return !s.claimed(g, f) }), "the run stopped before it was sent")
			return err
		}
	}
	if g.result.Stop != nil {
		s.stopSending(&stopError{*g.result.Stop})
	}
	var cleared []*flight
	for _, f := range g.flights {
		if !s.claimed(g, f) {
			continue
		}
		s.report.Sent++
		s.ration.begins(f.entry.ID)
		s.countBegun(f.entry)
		cleared = append(cleared, f)
	}
	s.wire.clear(cleared)
	s.Observe(Progress{Job: s.job.Name(), Phase: Sending, Done: s.report.Sent - len(s.flights), Total: max(s.due, s.report.Sent)})
	return nil
}

// claimed tells whether the ledger took an intent; one that it did not take is nobody's.
func (s *submission) claimed(g *storing, f *flight) bool {
	if g.result.Claimed[f.attempt.ID] {
		return true
	}
	s.land([]*flight{f})
	if g.result.Elsewhere[f.attempt.ID] { // another job has sent its key: the next look says so
		s.again, s.alone = true, false
	}
	return false
}

// land takes back flights that do not leave, and their questions: rows of other jobs may wait for the answers. They are no canary either.
func (s *submission) land(flights []*flight) {
	for _, f := range flights {
		delete(s.flights, f.entry.ID)
		s.blocks.answered(f.entry.ID)
		s.untried(f.entry.Key)
	}
}

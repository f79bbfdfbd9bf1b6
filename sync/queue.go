package sync

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/trade"
)

// fill makes sure that the queue holds rows that were looked at a moment ago. more is false when nothing is left that is due.
func (s *submission) fill(ctx context.Context) (more bool, err error) {
	if s.trialLeft() == 0 {
		if len(s.flights)+len(s.settling) > 0 || s.storing != nil {
			return true, nil
		}
		return false, s.unconfirmed()
	}
	if len(s.flights) >= s.window() {
		return true, nil
	}
	if s.closed() {
		return false, s.waitForHours(ctx)
	}
	if s.resting() > 0 {
		return s.anything(ctx)
	}
	batch := s.queue
	if len(batch) > 0 && s.preflown && s.Clock.Boot()-s.lookAt <= lookHolds {
		return true, nil
	}
	if len(batch) == 0 {
		batch = s.unpark()
	}
	if len(batch) == 0 {
		if batch, err = s.nextDue(ctx); err != nil {
			return false, err
		}
	}
	if len(batch) == 0 {
		return len(s.parked) > 0, nil
	}
	if !s.preflown {
		if err := s.preflight(ctx); err != nil {
			return false, err
		}
	}
	return true, s.lookInto(ctx, batch)
}

// anything tells whether something is due, while nothing may leave: a run does not rest for nothing.
func (s *submission) anything(ctx context.Context) (bool, error) {
	if s.again || len(s.queue)+len(s.parked) > 0 {
		return true, nil
	}
	due, err := s.ledger.Due(ctx, s.job.Name(), s.Clock.Now(), s.after, 1)
	return len(due) > 0, err
}

// nextDue takes up the next due entries. Rows that came back to pending, or that a found record woke, have lower numbers: for them it begins again.
func (s *submission) nextDue(ctx context.Context) ([]trade.Entry, error) {
	for {
		if s.ration.over() {
			return nil, nil
		}
		batch, err := s.ledger.Due(ctx, s.job.Name(), s.Clock.Now(), s.after, lookBatch)
		if err != nil {
			return nil, err
		}
		if len(batch) == 0 {
			if !s.again {
				return nil, nil
			}
			s.again, s.after = false, 0
			continue
		}
		s.after = batch[len(batch)-1].ID
		if err := s.heedRetries(ctx); err != nil {
			return nil, err
		}
		batch = slices.DeleteFunc(batch, func(e trade.Entry) bool {
			return s.flights[e.ID] || s.spent(e.ID) || slices.ContainsFunc(s.parked, func(p trade.Entry) bool { return p.ID == e.ID })
		})
		if batch = s.ration.left(batch); len(batch) > 0 {
			return s.fitting(ctx, batch)
		}
	}
}

// lookInto looks at a batch once more and stores what the look changed before anything of it goes.
func (s *submission) lookInto(ctx context.Context, batch []trade.Entry) error {
	at := s.Clock.Boot()
	var storing []trade.Entry
	if s.storing != nil {
		for _, f := range s.storing.flights {
			storing = append(storing, f.entry)
		}
	}
	result, err := s.look(ctx, batch, storing)
	if err != nil {
		return err
	}
	for _, o := range result.sent {
		if o.Entry.Job != s.job.Name() {
			s.like[o.Entry.ID] = true
		}
	}
	s.checkTwins(&result, s.parked)
	if len(result.updates) > 0 {
		res, err := s.ledger.Commit(ctx, s.lease, trade.Group{At: s.Clock.Now(), Updates: result.updates})
		if err != nil {
			return err
		}
		if res.LeaseLost {
			return s.leaseLost()
		}
	}
	s.queue, s.lookAt = result.ready, at
	return failpoint.Hit("rows.looked-at")
}

// choose takes from the queue what may go now, as intents and flights: no more than the free slots (I11), the tokens of the rate limit, and one row for each
// record of the platform of which nobody knows yet whether it is there.
func (s *submission) choose(ctx context.Context, group *trade.Group) []*flight {
	var flights []*flight
	if !s.keeper.trusted() && !s.keeper.renew(ctx) { // a machine that was suspended has its lease still, if nobody took it
		s.stopSending(s.leaseLost())
		return nil
	}
	if s.resting() > 0 {
		s.Observe(Progress{Job: s.job.Name(), Phase: Resting, Done: s.report.Sent - len(s.flights), Total: max(s.due, s.report.Sent), Note: s.restUntil.Format(time.RFC3339)})
		return nil
	}
	window := s.window()
	flights = make([]*flight, 0, max(0, min(len(s.queue), window-len(s.flights))))
	var rest []trade.Entry
	for i := range s.queue {
		entry := s.queue[i]
		if len(s.flights)+len(flights) >= window || s.quota == 0 || s.trialLeft() == 0 {
			rest = s.queue[i:]
			break
		}
		if !s.ration.allows(entry, flights) {
			continue // it stays pending
		}
		needs := needsOf(entry)
		if block, blocked := s.blocks.blocking(needs, group.At); blocked {
			group.Updates = append(group.Updates, trade.Update{From: entry.State, Entry: blockedEntry(entry, block, group.At)})
			continue
		}
		if s.blocks.asking(needs) {
			s.parked = append(s.parked, entry)
			continue
		}
		if !s.limiter.AllowN(s.Clock.Now(), 1) {
			rest = s.queue[i:]
			break
		}
		s.blocks.ask(needs, entry.ID)
		flights = append(flights, s.prepare(entry, needs))
		s.tried(entry.Key)
		if s.quota > 0 {
			s.quota--
		}
	}
	s.queue = rest
	group.Intents, group.Like = make([]trade.Intent, 0, len(flights)), s.like
	for _, f := range flights {
		group.Intents = append(group.Intents, trade.Intent{Entry: f.entry, Attempt: f.attempt})
	}
	return flights
}

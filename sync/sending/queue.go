package sending

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// fill makes sure that the queue holds rows that were looked at a moment ago. more is false when
// nothing is left that is due.
func (s *Sender) fill(ctx context.Context) (more bool, err error) {
	if s.brakes.TrialLeft() == 0 {
		if len(s.flights)+len(s.commit.settling) > 0 || s.commit.storing != nil {
			return true, nil
		}
		return false, s.brakes.Unconfirmed()
	}
	if len(s.flights) >= s.window() {
		return true, nil
	}
	if !s.AnyHour && !s.Run.Job.Hours.Open(s.Run.Env.Clock.Now().In(s.Run.Env.Zone)) {
		return false, s.waitForHours(ctx)
	}
	if s.pace.resting(s.Run.Env.Clock.Now()) > 0 {
		return s.anything(ctx)
	}
	batch := s.queue.ready
	if len(batch) > 0 && s.preflown && s.Run.Env.Clock.Boot()-s.queue.recheckedAt <= recheck.HoldsFor {
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
		return len(s.queue.parked) > 0, nil
	}
	if !s.preflown {
		if err := s.preflight(ctx); err != nil {
			return false, err
		}
	}
	return true, s.recheckBatch(ctx, batch)
}

// anything tells whether something is due, while nothing may leave: a run does not rest for
// nothing.
func (s *Sender) anything(ctx context.Context) (bool, error) {
	if s.queue.again || len(s.queue.ready)+len(s.queue.parked) > 0 {
		return true, nil
	}
	due, err := s.due.Due(ctx, s.Run.Job.Name(), s.Run.Env.Clock.Now(), s.queue.after, 1)
	return len(due) > 0, err
}

// nextDue takes up the next due entries. Rows that came back to pending, or that a found record
// woke, have lower numbers: for them it begins again.
func (s *Sender) nextDue(ctx context.Context) ([]trade.Entry, error) {
	for {
		if s.rowLimit.over() {
			return nil, nil
		}
		batch, err := s.due.Due(ctx, s.Run.Job.Name(), s.Run.Env.Clock.Now(), s.queue.after, recheck.BatchSize)
		if err != nil {
			return nil, err
		}
		if len(batch) == 0 {
			if !s.queue.again {
				return nil, nil
			}
			s.queue.again, s.queue.after = false, 0
			continue
		}
		s.queue.after = batch[len(batch)-1].ID
		if err := s.reloadRetries(ctx); err != nil {
			return nil, err
		}
		batch = slices.DeleteFunc(batch, func(e trade.Entry) bool {
			return s.flights[e.ID] || s.row.spent(e.ID) ||
				slices.ContainsFunc(s.queue.parked, func(p trade.Entry) bool { return p.ID == e.ID })
		})
		if batch = s.rowLimit.left(batch); len(batch) > 0 {
			return s.fitting(ctx, batch)
		}
	}
}

// recheckBatch looks at a batch once more and stores what the look changed before anything of it
// goes.
func (s *Sender) recheckBatch(ctx context.Context, batch []trade.Entry) error {
	at := s.Run.Env.Clock.Boot()
	var storing []trade.Entry
	if s.commit.storing != nil {
		for _, f := range s.commit.storing.flights {
			storing = append(storing, f.Entry)
		}
	}
	result, err := s.recheck.Recheck(ctx, batch, storing)
	if err != nil {
		return err
	}
	for _, o := range result.Sent {
		if o.Entry.Job != s.Run.Job.Name() {
			s.queue.like[o.Entry.ID] = true
		}
	}
	s.recheck.CheckEqualRows(&result, s.queue.parked)
	if len(result.Updates) > 0 {
		res, err := s.intents.Commit(ctx, s.Run.Lease, trade.Group{At: s.Run.Env.Clock.Now(), Updates: result.Updates})
		if err != nil {
			return err
		}
		if res.LeaseLost {
			return s.Run.LeaseLost()
		}
	}
	s.queue.ready, s.queue.recheckedAt = result.Ready, at
	return failpoint.Hit("rows.looked-at")
}

// choose takes from the queue what may go now, as intents and flights: no more than the free slots
// (I11), the tokens of the rate limit, and one row for each record of the platform of which nobody
// knows yet whether it is there.
func (s *Sender) choose(ctx context.Context, group *trade.Group) []*inFlight {
	var flights []*inFlight
	// a machine that was suspended has its lease still, if nobody took it
	if !s.Run.Keeper.Trusted() && !s.Run.Keeper.Renew(ctx) {
		s.stopSending(s.Run.LeaseLost())
		return nil
	}
	if s.pace.resting(s.Run.Env.Clock.Now()) > 0 {
		s.Run.Env.Observe(run.Progress{
			Job: s.Run.Job.Name(), Phase: run.Resting,
			Done: s.Run.Report.Sent - len(s.flights), Total: max(s.queue.due, s.Run.Report.Sent),
			Note: s.pace.restUntil.Format(time.RFC3339),
		})
		return nil
	}
	window := s.window()
	flights = make([]*inFlight, 0, max(0, min(len(s.queue.ready), window-len(s.flights))))
	var rest []trade.Entry
	for i := range s.queue.ready {
		entry := s.queue.ready[i]
		if len(s.flights)+len(flights) >= window || s.queue.quota == 0 || s.brakes.TrialLeft() == 0 {
			rest = s.queue.ready[i:]
			break
		}
		if !s.rowLimit.allows(entry, flights) {
			continue // it stays pending
		}
		needs := run.NeedsOf(entry)
		if block, blocked := s.traffic.blocks.blocking(needs, group.At); blocked {
			group.Updates = append(group.Updates,
				trade.Update{From: entry.State, Entry: blockedEntry(entry, block, group.At)})
			continue
		}
		if s.traffic.blocks.probing(needs) {
			s.queue.parked = append(s.queue.parked, entry)
			continue
		}
		if !s.traffic.Limiter.AllowN(s.Run.Env.Clock.Now(), 1) {
			rest = s.queue.ready[i:]
			break
		}
		s.traffic.blocks.startProbe(needs, entry.ID)
		flights = append(flights, s.prepare(entry, needs))
		s.brakes.Tried(entry.Key)
		if s.queue.quota > 0 {
			s.queue.quota--
		}
	}
	s.queue.ready = rest
	group.Intents, group.Like = make([]trade.Intent, 0, len(flights)), s.queue.like
	for _, f := range flights {
		group.Intents = append(group.Intents, trade.Intent{Entry: f.Entry, Attempt: f.attempt})
	}
	return flights
}

// DueAgain tells that entries with lower numbers than those taken up may be due.
func (s *Sender) DueAgain() { s.queue.again = true }

// FromStart takes up what is due from the lowest number on.
func (s *Sender) FromStart() { s.queue.after = 0 }

// waitForHours says in the report when what is due goes.
func (s *Sender) waitForHours(ctx context.Context) error {
	due, err := s.anything(ctx)
	if due {
		next := s.Run.Job.Hours.Next(s.Run.Env.Clock.Now().In(s.Run.Env.Zone)).UTC()
		s.Run.Report.SendsAgain = &next
	}
	return err
}

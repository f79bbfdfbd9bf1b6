// The rows that go next.

package sending

import (
	"context"
	"slices"
	"time"

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

// anything reports whether something is due, while nothing may leave: a run does not rest for
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

// queue is what goes next.
type queue struct {
	ready       []trade.Entry  // looked at, ready to go
	recheckedAt time.Duration  // Boot time of that look
	like        map[int64]bool // entries of other jobs that looks of this run found, sent with the content of a row
	parked      []trade.Entry  // need a record of the platform that another flight is asking about
	after       int64          // number of the last entry that was taken up
	again       bool           // entries with lower numbers may be due again
	due         int
	begun       bool          // what is due by time was found
	quota       int           // rows that may still be begun in this turn; -1 = as many as are due
	until       time.Duration // Boot time at which a turn with a quota ends
}

// pending counts the rows that may go in this run.
func pending(ctx context.Context, q run.Queue, job string) (int, error) {
	tallies, err := q.Counts(ctx, job)
	n := 0
	for _, t := range tallies {
		if t.State == trade.Pending {
			n += t.Count
		}
	}
	return n, err
}

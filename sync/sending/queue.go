// The queue: which rows are sent next.

package sending

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// fill makes sure that the queue holds rows that were rechecked just before. more is false if
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

// anything reports whether something is due while nothing may leave; if not, the run need not rest.
func (s *Sender) anything(ctx context.Context) (bool, error) {
	if s.queue.again || len(s.queue.ready)+len(s.queue.parked) > 0 {
		return true, nil
	}
	due, err := s.due.Due(ctx, s.Run.Job.Name(), s.Run.Env.Clock.Now(), s.queue.after, 1)
	return len(due) > 0, err
}

// nextDue returns the next due entries. Rows that became pending again, or that were woken because
// a record was found, have lower ids: for them it starts from the beginning.
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
		if batch = s.rowLimit.allowed(batch); len(batch) > 0 {
			return s.fitting(ctx, batch)
		}
	}
}

// DueAgain records that entries with lower ids than those already taken may be due.
func (s *Sender) DueAgain() { s.queue.again = true }

// FromStart makes the queue continue from the lowest id.
func (s *Sender) FromStart() { s.queue.after = 0 }

// waitForHours stores in the report when the rows that are due will be sent.
func (s *Sender) waitForHours(ctx context.Context) error {
	due, err := s.anything(ctx)
	if due {
		next := s.Run.Job.Hours.Next(s.Run.Env.Clock.Now().In(s.Run.Env.Zone)).UTC()
		s.Run.Report.SendsAgain = &next
	}
	return err
}

// queue holds what is sent next.
type queue struct {
	ready       []trade.Entry // rechecked and ready to be sent
	recheckedAt time.Duration // Boot time of that recheck
	// records near a row, or with its key, that rechecks of this run found
	like   map[int64]bool
	parked []trade.Entry // need a record of the platform about which another flight is asking
	after  int64         // id of the last entry taken from the ledger
	again  bool          // entries with lower ids may be due again
	due    int
	begun  bool          // begin was done
	quota  int           // rows that may still be begun in this turn; -1 = no limit
	until  time.Duration // Boot time at which a turn with a quota ends
}

// pending returns how many entries of the job are pending.
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

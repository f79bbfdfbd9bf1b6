// Which rows are sent next, and how they are made ready.

package sending

import (
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// A recheck is valid for HoldsFor; rows that have not left by then are rechecked. At most BatchSize
// rows are rechecked together.
const (
	HoldsFor  = 2 * time.Second
	BatchSize = 64
)

// queue holds what is sent next.
type queue struct {
	ready     []trade.Entry  // rechecked, in the order in which they go
	readAt    time.Duration  // Boot time of that recheck
	next      *batch         // is ready when these are gone
	preparing chan *batch    // receives the batch that is being made ready; nil: none is
	stale     []trade.Entry  // were ready for too long
	parked    []trade.Entry  // need a record of the platform about which another flight is asking
	like      map[int64]bool // records near a row, or with its key, that rechecks of this run found
	after     int64          // id of the last entry taken from the ledger
	restart   bool           // entries with lower ids may be due
	exhausted bool           // the ledger had no further entry that is due
	due       int
	begun     bool          // begin was done
	quota     int           // rows that may still be begun in this turn; -1 = no limit
	until     time.Duration // Boot time at which a turn with a quota ends
}

// batch is a number of rows that are made ready together.
type batch struct {
	rows      []trade.Entry // to be rechecked; none: the next ones that are due
	size      int
	after     int64
	restart   bool
	exhausted bool
	skip      map[int64]bool // entries that are taken already
	allowed   map[int64]bool // the only entries that may still go; nil: any
	parked    []trade.Entry
	before    []trade.Entry // go before these; the ledger may have their intents or not

	readAt time.Duration
	result Rechecked
	err    error
}

// begin wakes what is due by time, once for a job, and begins a turn.
func (s *Sender) begin(ctx context.Context, quota int) (err error) {
	s.queue.exhausted, s.queue.quota = false, quota
	if quota == 0 {
		s.queue.quota = -1
	}
	s.queue.until = s.Clock.Boot() + sliceTime
	if s.traffic.Careful {
		s.pace.slots = 1
	}
	if s.queue.begun {
		return nil
	}
	s.queue.begun = true
	if _, err := s.due.Wake(ctx, s.Lease, s.Now); err != nil {
		return err
	}
	if s.traffic.blocks == nil {
		blocks, err := s.due.Blocks(ctx)
		if err != nil {
			return err
		}
		s.traffic.blocks = newMissingRecords(blocks)
	}
	s.queue.due, err = s.due.CountIn(ctx, s.Job.Name(), trade.Pending)
	return err
}

// makeReady makes sure that the queue holds rows that were rechecked just before, or that a batch is
// on its way. more is false if nothing is left that is due.
func (s *Sender) makeReady(ctx context.Context) (more bool, err error) {
	q := &s.queue
	if q.quota > 0 && s.Clock.Boot() >= q.until {
		q.quota = 0
		return false, nil
	}
	select {
	case b := <-q.preparing:
		if err := s.startPrepared(ctx, b); err != nil {
			return false, err
		}
	default:
	}
	switch {
	case s.brakes.TrialRemaining() == 0:
		if s.flying+len(s.settling) > 0 {
			return true, nil
		}
		return false, s.brakes.Unconfirmed()
	case !s.AnyHour && !s.Job.Hours.Open(s.Clock.Now().In(s.Zone)):
		due, err := s.anything(ctx)
		if due {
			next := s.Job.Hours.Next(s.Clock.Now().In(s.Zone)).UTC()
			s.Report.SendsAgain = &next
		}
		return false, err
	case s.pace.resting(s.Clock.Now()) > 0:
		return s.anything(ctx)
	}
	if len(q.ready) == 0 && q.next != nil {
		q.ready, q.readAt, q.next = q.next.result.Ready, q.next.readAt, nil
	}
	if len(q.ready) > 0 && !s.probed && s.flying < s.pace.slots {
		stop := Preflight(ctx, s.Platform)
		s.probed = true
		switch {
		case ctx.Err() != nil:
			return false, &outcome.StopError{Stop: outcome.Interrupted()}
		case stop != nil:
			return false, &outcome.StopError{Stop: *stop}
		}
	}
	if s.Clock.Boot()-q.readAt > HoldsFor {
		q.stale, q.ready = append(q.ready, q.stale...), nil
	}
	if err := s.prepareNext(ctx); err != nil {
		return false, err
	}
	return len(q.ready)+len(q.stale)+len(q.parked) > 0 || q.next != nil || q.preparing != nil, nil
}

// prepareNext begins to make a batch ready, unless there is one, none is needed yet, or nothing is
// left. Without a rate limit a batch is made ready while the last rows of the one before it go.
func (s *Sender) prepareNext(ctx context.Context) error {
	q, limit := &s.queue, s.traffic.Pace.Limit()
	early := s.pace.slots
	b := &batch{size: BatchSize, after: q.after, restart: q.restart}
	if limit != rate.Inf { // no more than may leave while the recheck holds
		early, b.size = 0, min(BatchSize, max(1, int(limit*rate.Limit(HoldsFor/time.Second))))
	}
	if q.next != nil || q.preparing != nil || len(q.ready) > early || s.flying >= s.pace.slots {
		return nil
	}
	// parked rows that wait for no answer any more are rechecked, because they have waited
	var parked []trade.Entry
	for _, e := range q.parked {
		if len(b.rows) < b.size && !s.traffic.blocks.probing(run.NeedsOf(e)) {
			b.rows = append(b.rows, e)
		} else {
			parked = append(parked, e)
		}
	}
	q.parked = parked
	if len(b.rows) == 0 {
		n := min(len(q.stale), b.size)
		b.rows, q.stale = q.stale[:n:n], q.stale[n:]
	}
	if len(b.rows) == 0 && (q.exhausted && !q.restart || s.rowLimit.reached() && len(s.rowLimit.again) == 0) {
		return nil
	}
	// records for which a person has ordered a new question are read; what another process has found is
	// forgotten
	if len(s.traffic.blocks.missing) > 0 {
		blocks, err := s.due.Blocks(ctx)
		if err != nil {
			return err
		}
		stored := newMissingRecords(blocks).missing
		for n := range s.traffic.blocks.missing {
			if slices.ContainsFunc(s.newBlocks, func(l trade.Block) bool { return l.Kind == n.Kind && l.ID == n.ID }) {
				continue // not stored yet
			}
			if block, still := stored[n]; !still {
				delete(s.traffic.blocks.missing, n)
			} else if block.Tries == 0 {
				s.traffic.blocks.missing[n] = block
			}
		}
	}
	eval := s.Eval
	if err := s.Renew(ctx); err != nil {
		return err
	}
	if s.Eval != eval { // what is ready was mapped with the former de-para
		q.stale, q.ready = append(q.ready, q.stale...), nil
	}
	if s.rowLimit.reached() {
		b.allowed = maps.Clone(s.rowLimit.again)
	}
	b.parked, b.before, b.skip = slices.Clone(q.parked), slices.Concat(q.ready, q.stale), map[int64]bool{}
	for id, times := range s.streaks.throttled {
		if times >= throttledMost { // only a later run tries it again
			b.skip[id] = true
		}
	}
	for _, e := range slices.Concat(b.parked, b.before) {
		b.skip[e.ID] = true
	}
	if len(b.rows) == 0 {
		q.restart = false
	}
	q.preparing = make(chan *batch, 1)
	go func(to chan *batch) {
		b.err = s.prepare(ctx, b)
		to <- b
	}(q.preparing)
	return nil
}

// prepare makes a batch ready: it rechecks its rows, and stores what that changed before anything of
// them is sent. It runs beside the loop, and uses nothing that the loop changes.
func (s *Sender) prepare(ctx context.Context, b *batch) (err error) {
	if len(b.rows) == 0 {
		if err := s.loadDue(ctx, b); err != nil || len(b.rows) == 0 {
			return err
		}
	}
	b.readAt = s.Clock.Boot()
	b.result, err = s.recheck.Recheck(ctx, b.rows, b.parked, b.before)
	if err != nil {
		return err
	}
	if updates := b.result.Updates; len(updates) > 0 {
		group := trade.Group{At: s.Clock.Now(), Updates: updates}
		res, err := s.intents.Commit(ctx, s.Lease, group)
		if err == nil && res.LeaseLost {
			err = s.LeaseLost()
		}
		if err != nil {
			return err
		}
	}
	// a recheck that took long holds for a while all the same: else its rows would never go
	b.readAt = max(b.readAt, s.Clock.Boot()-HoldsFor/2)
	return failpoint.Hit("rows.looked-at")
}

// loadDue takes the next entries from the ledger that are due. Rows that became pending again, or
// that were woken because a record was found, have lower ids: for them it starts from the beginning.
func (s *Sender) loadDue(ctx context.Context, b *batch) error {
	for {
		due, err := s.due.Due(ctx, s.Job.Name(), s.Clock.Now(), b.after, b.size)
		switch {
		case err != nil:
			return err
		case len(due) == 0 && !b.restart:
			b.exhausted = true
			return nil
		case len(due) == 0:
			b.restart, b.after = false, 0
			continue
		}
		b.after = due[len(due)-1].ID
		b.rows = slices.DeleteFunc(due, func(e trade.Entry) bool {
			return b.skip[e.ID] || b.allowed != nil && !b.allowed[e.ID] ||
				s.rowLimit.keys != nil && !s.rowLimit.keys[e.Key]
		})
		if len(b.rows) > 0 {
			return nil
		}
	}
}

// startPrepared takes up a batch that was made ready.
func (s *Sender) startPrepared(ctx context.Context, b *batch) (err error) {
	q := &s.queue
	q.preparing = nil
	switch {
	case b.err != nil && ctx.Err() != nil:
		return interrupted()
	case b.err != nil:
		return b.err
	}
	q.after, q.restart, q.exhausted = b.after, q.restart || b.restart, b.exhausted
	maps.Copy(q.like, b.result.Known)
	b.result.Ready, err = s.fitting(ctx, b.result.Ready)
	if len(b.result.Ready) > 0 {
		q.next = b
	}
	return err
}

// anything reports whether something is due while nothing may leave; if not, the run need not rest.
func (s *Sender) anything(ctx context.Context) (bool, error) {
	q := &s.queue
	if q.restart || len(q.ready)+len(q.stale)+len(q.parked) > 0 || q.next != nil || q.preparing != nil {
		return true, nil
	}
	due, err := s.due.Due(ctx, s.Job.Name(), s.Clock.Now(), q.after, 1)
	return len(due) > 0, err
}

// DueAgain records that entries with lower ids than those already taken may be due.
func (s *Sender) DueAgain() { s.queue.restart = true }

// FromStart makes the queue continue from the lowest id.
func (s *Sender) FromStart() { s.queue.after = 0 }

// fitting returns the beginning of a batch that still fits into the run's limit. It also checks
// rows that become due during the run. If not even the first row fits, the run is braked; what was
// sent by then stays sent.
func (s *Sender) fitting(ctx context.Context, batch []trade.Entry) ([]trade.Entry, error) {
	if s.Job.Spec.Most == nil {
		return batch, nil
	}
	if s.Load.rows == nil {
		s.Load.rows = map[int64]bool{}
	}
	for i, e := range batch {
		load := s.Load.taken
		load.Value = maps.Clone(load.Value)
		if !s.Load.rows[e.ID] { // counted already if it came back unsent
			load.Add(e)
		}
		if !load.Within(s.brakes.Room) {
			if i > 0 {
				s.queue.after = batch[i-1].ID
				return batch[:i], nil
			}
			due, samples, err := s.brakes.DueFreight(ctx)
			if err != nil {
				return nil, err
			}
			return nil, s.brakes.Overloaded(due, samples, 0)
		}
		s.Load.taken, s.Load.rows[e.ID] = load, true
	}
	return batch, nil
}

// load is what a run takes on and begins to send, under `most:`.
type load struct {
	taken trade.Freight
	rows  map[int64]bool // the entries of taken
	Went  trade.Freight  // what was begun
}

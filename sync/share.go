package sync

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// While the holder of a job sends, other instances may help (hand.go). The holder alone reads, sweeps, moves the cursor and judges the brakes. It does not share a job whose rows one
// counter must count: with `most:`, as a canary, and while the last outcome was unknown, or a circuit is tried.

// handsEvery is how often the holder looks whether the rows that others have on the wire have landed.
const handsEvery = 100 * time.Millisecond

// shareable tells whether others may send rows of the job now.
func (s *submission) shareable() bool {
	return s.crew.several && !s.lease.Hand && s.halt == nil && s.preflown && !s.careful && !s.probing && s.trial == nil && !s.ration.limited() && s.job.Spec.Most == nil
}

// offer lets others send rows of the job, or no longer. It asks the ledger only when that changes.
func (s *submission) offer(ctx context.Context) error {
	yes := s.shareable()
	if yes == s.shared {
		return nil
	}
	s.shared = yes
	s.sharing.Store(s.sharing.Load() || yes)
	return s.ledger.Offer(context.WithoutCancel(ctx), s.lease, yes, s.report.ID, s.mappedWith())
}

// mappedWith names everything by which a row of the job becomes a request.
func (r *jobRun) mappedWith() string { return r.job.fingerprint() + " " + r.eval.mappedWith }

// shareDue gives the rows of this instance's part first, and when it has none left, what is left of all.
func (s *submission) shareDue(ctx context.Context) ([]trade.Entry, error) {
	place := s.crew.place()
	if place.Living > 1 && (s.shared || s.lease.Hand) && !s.leftovers {
		batch, err := s.ledger.DueShare(ctx, s.job.Name(), s.Clock.Now(), s.after, lookBatch, place.Living, place.Rank)
		if len(batch) > 0 || err != nil {
			return batch, err
		}
		s.leftovers, s.after = true, 0
	}
	return s.ledger.Due(ctx, s.job.Name(), s.Clock.Now(), s.after, lookBatch)
}

// asksOf are the records about which a row would ask the platform. Alone, blocks knows of all that ask; with others, the ledger does.
func (s *submission) asksOf(entry int64) []trade.PlatformRecord {
	if s.crew.place().Living < 2 {
		return nil
	}
	var out []trade.PlatformRecord
	for _, n := range s.blocks.asks[entry] {
		out = append(out, trade.PlatformRecord{Kind: n.kind, ID: n.id})
	}
	return out
}

// unclaimed takes up what the ledger said of an intent that it did not claim. One that another instance's question keeps from going waits; one whose record is missing waits
// for that; one that somebody else has claimed is no business of ours any more.
func (s *submission) unclaimed(f *flight, result trade.GroupResult) {
	switch b, lacking := result.Lacking[f.attempt.ID]; {
	case lacking:
		s.blocks.missing[need{b.Kind, b.ID}] = b
		s.queue = append(s.queue, f.entry)
	case result.Asked[f.attempt.ID]:
		s.blocks.elsewhere(needsOf(f.entry), s.Clock.Boot()+askedElsewhere)
		s.parked = append(s.parked, f.entry)
	case result.Elsewhere[f.attempt.ID]: // the next look says so
		s.again, s.alone = true, false
	case result.Quiet:
		s.queue = append(s.queue, f.entry)
		if until := s.Clock.Now().Add(handsEvery); until.After(s.restUntil) {
			s.restUntil = until
		}
	}
}

// askedElsewhere is how long a row waits that needs a record about which another instance asks, before it tries again.
const askedElsewhere = time.Second

// elsewhere notes that another instance asks about records of which nobody knows.
func (l *blockList) elsewhere(needs []need, until time.Duration) {
	for _, n := range needs {
		if !l.known(n) {
			l.others[n] = until
		}
	}
}

// awaits is how long rows wait at least for what other instances ask; 0 when none does.
func (l *blockList) awaits(boot time.Duration) time.Duration {
	var least time.Duration
	for n, until := range l.others {
		switch left := until - boot; {
		case left <= 0:
			delete(l.others, n)
		case least == 0 || left < least:
			least = left
		}
	}
	return least
}

// tend is done with each renewal of the lease: what dead instances had on the wire becomes in doubt, and a stop by one that helps is heard.
func (r *jobRun) tend(ctx context.Context) {
	if !r.sharing.Load() {
		return
	}
	doubts, err := r.ledger.Recover(ctx, r.lease, r.Clock.Now(), r.crew.aloft()...)
	if err != nil {
		r.log.Warn("what other instances left on the wire was not found out", zap.Error(err))
	} else if doubts > 0 {
		r.log.Warn("rows were on the wire when another instance ended; they are in doubt now", zap.Int("rows", doubts))
		r.watch(ctx)
	}
	if err := r.hear(ctx); err != nil {
		r.log.Warn("the ledger does not say whether another instance stopped the job", zap.Error(err))
	}
}

// hear takes up that an instance which helps has stopped the job.
func (r *jobRun) hear(ctx context.Context) error {
	shares, err := r.ledger.Leases(ctx)
	for _, s := range shares {
		if s.Job == r.job.Name() && s.Epoch == r.lease.Epoch && s.Stop != nil {
			r.told.Store(s.Stop)
		}
	}
	return err
}

// toldToStop is the stop by an instance that helps; nil when there is none.
func (r *jobRun) toldToStop() error {
	if stop := r.told.Load(); stop != nil {
		return &stopError{*stop}
	}
	return nil
}

// awaitHands waits until what other instances have on the wire has landed: children come after their parents, and sums are compared when nothing moves. more tells that rows are due
// again. It ends when the run does, and when it has taken longer than any request may.
func (r *jobRun) awaitHands(ctx context.Context) (more bool, err error) {
	if !r.sharing.Load() {
		return false, nil
	}
	limit := r.Clock.Boot() + r.Limits.Timeout + r.Limits.keepAnswers() + 2*renewEvery
	tick := time.NewTicker(handsEvery)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		if err := r.toldToStop(); err != nil {
			return false, err
		}
		tallies, err := r.ledger.Counts(ctx, r.job.Name())
		if err != nil || !slices.ContainsFunc(tallies, func(t trade.Tally) bool { return t.State == trade.Sending && t.Count > 0 }) {
			return err == nil && turn > 0, err
		}
		if turn%10 == 9 {
			r.tend(ctx)
		}
		if r.Clock.Boot() > limit {
			r.note("rows that another instance has on the wire were not awaited any longer")
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
	}
}

// unshare ends the sharing before a run is concluded, and counts what others have sent in it.
func (r *jobRun) unshare(ctx context.Context) {
	if !r.sharing.Load() || r.send == nil { // a run that did not come to sending has offered nothing
		return
	}
	err := r.ledger.Offer(context.WithoutCancel(ctx), r.lease, false, r.report.ID, r.mappedWith())
	if err == nil && r.err == nil {
		_, err = r.awaitHands(ctx)
	}
	var n int
	if err == nil {
		n, err = r.ledger.Helped(context.WithoutCancel(ctx), r.lease)
	}
	if err != nil {
		r.note("what other instances sent in this run is not counted: %v", err)
	}
	r.report.Sent += n
	r.ration.rows += n
}

package sync_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/trade"
)

func (l brokenDesk) DueEvents(ctx context.Context, now time.Time, limit int) ([]trade.InboxEvent, error) {
	return through(l.b, "DueEvents", func() ([]trade.InboxEvent, error) { return l.s.DueEvents(ctx, now, limit) })
}

func (l brokenDesk) EventsDone(ctx context.Context, events []trade.InboxEvent) error {
	return l.b.call("EventsDone", func() error { return l.s.EventsDone(ctx, events) })
}

func (l brokenDesk) Ours(ctx context.Context, ids []string) (map[string]string, error) {
	return through(l.b, "Ours", func() (map[string]string, error) { return l.s.Ours(ctx, ids) })
}

func (l brokenDesk) EntriesWith(ctx context.Context, sends trade.Kind, remoteIDs []string) ([]trade.Entry, error) {
	return through(l.b, "EntriesWith", func() ([]trade.Entry, error) { return l.s.EntriesWith(ctx, sends, remoteIDs) })
}

func (l brokenDesk) NoteHeard(ctx context.Context, heard []trade.Heard, candidates []trade.Candidate) error {
	return l.b.call("NoteHeard", func() error { return l.s.NoteHeard(ctx, heard, candidates) })
}

func (l brokenDesk) DueCandidates(ctx context.Context, now time.Time, limit int) ([]trade.Candidate, error) {
	return through(l.b, "DueCandidates",
		func() ([]trade.Candidate, error) { return l.s.DueCandidates(ctx, now, limit) })
}

func (l brokenDesk) ClaimCandidate(ctx context.Context, c trade.Candidate, until time.Time) (bool, error) {
	return through(l.b, "ClaimCandidate", func() (bool, error) { return l.s.ClaimCandidate(ctx, c, until) })
}

func (l brokenDesk) SaveCandidate(ctx context.Context, c trade.Candidate) error {
	return l.b.call("SaveCandidate", func() error { return l.s.SaveCandidate(ctx, c) })
}

func (l brokenDesk) ForgetCandidates(ctx context.Context, ids []string) error {
	return l.b.call("ForgetCandidates", func() error { return l.s.ForgetCandidates(ctx, ids) })
}

func (l brokenDesk) PostponeCandidates(ctx context.Context, ids []string, until time.Time) error {
	return l.b.call("PostponeCandidates", func() error { return l.s.PostponeCandidates(ctx, ids, until) })
}

func (l brokenDesk) ReadBack(ctx context.Context, since time.Time, limit int) ([]trade.Candidate, error) {
	return through(l.b, "ReadBack", func() ([]trade.Candidate, error) { return l.s.ReadBack(ctx, since, limit) })
}

func (l brokenDesk) LastHeard(ctx context.Context, kind, event string, ids []string,
	before time.Time,
) (map[string]trade.Heard, error) {
	return through(l.b, "LastHeard",
		func() (map[string]trade.Heard, error) { return l.s.LastHeard(ctx, kind, event, ids, before) })
}

func (l brokenDesk) Doubts(ctx context.Context) ([]trade.Doubt, error) {
	return through(l.b, "Doubts", func() ([]trade.Doubt, error) { return l.s.Doubts(ctx) })
}

func (l brokenDesk) WakeFor(ctx context.Context, kinds, ids []string, now time.Time) (int, error) {
	return through(l.b, "WakeFor", func() (int, error) { return l.s.WakeFor(ctx, kinds, ids, now) })
}

func (l brokenDesk) AskLookupsAgain(ctx context.Context, now time.Time) (int, error) {
	return through(l.b, "AskLookupsAgain", func() (int, error) { return l.s.AskLookupsAgain(ctx, now) })
}

// heardBench is a bench of which the platform has told: contract 1 was deleted there while a
// delivery was to go under it, contract 2 is in doubt, and there is a producer.
func heardBench(t *testing.T) *bench {
	t.Helper()
	b := withChildren(newBench(t, sandbox.Options{ShowTimes: true, Events: eventFaults(t, "shape=id")}))
	b.limits.MaxInFlight = 1
	b.hears()
	b.contracts(1)
	b.pass()
	b.delivery(1, 1, 100)
	b.api.SetFaults(faults(t, "deliveries:throttle=20m@1-")...)
	b.pass()
	b.row("deliveries", "01|0001", trade.Pending, "")
	b.contract(2)
	b.api.SetFaults(faults(t, "order_commitments:lost-after@1-", "deliveries:throttle=20m@1-")...)
	b.pass()
	b.expect(2, trade.InDoubt, trade.CauseUnknown)
	b.api.SetFaults()
	if err := b.api.DeleteCommitment(b.entry(1).RemoteID); err != nil {
		t.Fatal(err)
	}
	b.tell("CREATE_PRODUCER", `{"id":"`+producerID+`"}`)
	if err := b.api.WaitDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// listen lets three passes look at what was told, up to the first that fails.
func (b *bench) listen(h *events.Processor) error {
	for range 3 {
		b.clock.advance(4 * time.Second)
		if _, err := h.Pass(b.t.Context()); err != nil {
			return err
		}
	}
	return nil
}

// F047, F048, F052: each call of the ledger fails once while it is looked at what the platform
// told: it is said, and the next looks do the rest: the doubt is settled, the deletion is marked,
// and the delivery waits.
func TestEveryCallOfWhatIsHeardFailsOnce(t *testing.T) {
	t.Parallel()
	first, step := 1, 4
	if long {
		first, step = 1, 1
	}
	var hits []string
	for at := first; ; at += step {
		b, br := heardBench(t), &breaker{}
		h := b.hearing()
		inbox := b.desk(br)
		h.Inbox, h.Candidates, h.Rows = inbox, inbox, inbox
		br.arm(at, false)
		err := b.listen(h)
		hit := br.disarm()
		if (hit == "") != (err == nil) {
			t.Errorf("call %d (%q fails): %v", at, hit, err)
		}
		b.clock.advance(6 * time.Minute) // what was being read is nobody's any more
		if err := b.listen(h); err != nil {
			t.Fatalf("after call %d failed (%s): %v", at, hit, err)
		}
		if state := b.entry(2).State; state != trade.Accepted {
			t.Errorf("after call %d failed (%s): row 2 is %s", at, hit, state)
		}
		b.flags(1, "[deleted_remote]")
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if hit == "" {
			break
		}
		hits = append(hits, hit)
	}
	slices.Sort(hits)
	t.Logf("%d calls failed: %v", len(hits), slices.Compact(hits))
}

// A look that cannot wait for its turn to read ends, and the next one reads.
func TestALookThatMayNotWaitForItsReadingsSaysSo(t *testing.T) {
	t.Parallel()
	b := heardBench(t)
	h := b.hearing()
	h.Pace = time.Hour
	b.clock.advance(4 * time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	before := b.gets()
	if _, err := h.Pass(ctx); err == nil || b.gets() != before+1 {
		t.Errorf("%v after %d readings; want one, and no time for the second", err, b.gets()-before)
	}
	b.clock.advance(6 * time.Minute)
	if err := b.listen(b.hearing()); err != nil {
		t.Fatal(err)
	}
	b.expect(2, trade.Accepted, "")
}

// A look that fails is told in the log, and looking goes on.
func TestALookThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	h := b.hearing()
	br := &breaker{}
	br.cutOff(true)
	inbox := b.desk(br)
	h.Inbox, h.Candidates, h.Rows = inbox, inbox, inbox
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := make(chan struct{}, 1)
	core, logs := observer.New(zap.ErrorLevel)
	h.Log = zap.New(core, zap.Hooks(func(zapcore.Entry) error {
		if logs.Len() < 2 {
			told <- struct{}{} // the next look
		} else {
			cancel()
		}
		return nil
	}))
	h.Run(ctx, told)
	if logs.Len() != 2 {
		t.Errorf("%d failures were logged, want 2", logs.Len())
	}
}

package sync_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/trade"
)

// heardBench is a bench of which the platform has told: contract 1 was deleted there while a
// delivery was to go under it, contract 2 is in doubt, and there is a producer.
func heardBench(t *testing.T) *bench {
	t.Helper()
	b := withChildren(newBench(t, sandbox.Options{ShowTimes: true, Events: []sandbox.EventFault{{Shape: "id"}}}))
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
	must.Do(t, b.api.DeleteCommitment(b.entry(1).RemoteID))
	b.tell("CREATE_PRODUCER", `{"id":"`+producerID+`"}`)
	must.Do(t, b.api.WaitDeliveries(t.Context()))
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
	first, step := sampled(0, 30)
	var hits []string
	for at := first; ; at += step {
		b := heardBench(t)
		h := b.hearing()
		b.breaker.arm(at, false)
		err := b.listen(h)
		hit := b.breaker.disarm()
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
		method, _, _ := strings.Cut(hit, ": ")
		hits = append(hits, method)
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
	must.Do(t, b.listen(b.hearing()))
	b.expect(2, trade.Accepted, "")
}

// A look that fails is told in the log, and looking goes on.
func TestALookThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	h := b.hearing()
	b.breaker.cutOff(true)
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

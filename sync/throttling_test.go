package sync_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func TestF133AThrottledJobWaitsAndGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=1s@2")})
	b.limits.MaxInFlight = 1
	b.contracts(4)
	b.wants(b.sync(engine.Options{}), "accepted 4, stop none")
}

func TestF133APassThatWouldOnlyWaitEndsAndTheNextOneSaysWhen(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=20m@1-")})
	b.limits.MaxInFlight = 1
	b.contracts(2)
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "api_throttled" || r.Stopped.Until.IsZero() ||
		r.States[trade.Pending] != 2 {
		t.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.api.SetFaults()
	b.wants(b.sync(engine.Options{}), "stop api_throttled, sent 0")
	b.clock.advance(21 * time.Minute)
	b.wants(b.sync(engine.Options{}), "accepted 2")
}

func TestF133ManyShortRestsEndThePassToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=100s@1-")})
	b.observe = func(p run.Progress) {
		if p.Phase == run.Resting {
			b.clock.jump(2 * time.Minute)
		}
	}
	b.limits.MaxInFlight = 1
	b.contracts(1)
	b.wants(b.sync(engine.Options{}), "stop api_throttled, sent 4, pending 1")
}

// Several answers of one moment ask for one rest, not for one each.
func TestF133ABurstOf429IsOneRest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 8
	b.contracts(8)
	rests := 0
	b.posting = func(context.Context, submission) (apiclient.Answer, error) {
		answer := apiclient.Answer{Known: apiclient.Throttled, Status: 429, RetryAfter: time.Minute}
		return answer, &apiclient.CallError{Answer: answer}
	}
	b.observe = func(p run.Progress) {
		if p.Phase == run.Resting {
			rests++
			cancel() // while it rests: it must end at once, and not in a minute
		}
	}
	reports := must.Get(b.engine().Sync(ctx, nil, engine.Options{}))(t)
	if r := reports[0]; rests == 0 || r.Stopped == nil || r.Stopped.Code != "interrupted" ||
		r.States[trade.Pending] != 8 {
		t.Errorf("%d rests, states %v, stopped %+v", rests, r.States, r.Stopped)
	}
}

// Nobody waits for a rest that the API asked for when nothing is due.
func TestARunDoesNotRestForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=200s@1")})
	b.limits.MaxInFlight = 1
	b.contracts(1)
	ctx, cancel := context.WithCancel(t.Context())
	b.observe = func(p run.Progress) {
		if p.Phase == run.Resting {
			cancel()
		}
	}
	must.Get(b.engine().Sync(ctx, nil, engine.Options{}))(t)
	until := b.clock.Now().Add(4 * time.Minute)
	throttled := trade.JobStatus{
		Job: "contracts", State: trade.BackingOff,
		Stop: &trade.Stop{Code: "api_throttled", Why: trade.Say("later"), Until: until},
	}
	must.Do(t, b.ledger.SetJobStatus(t.Context(), throttled))
	b.exec(`UPDATE contrato SET pagamento = NULL, atualizado = '2026-03-11 08:00:00'`)
	rested := false
	b.observe = func(p run.Progress) { rested = rested || p.Phase == run.Resting }
	if r := b.sync(engine.Options{}); rested || r.States[trade.Invalid] != 1 || r.Stopped != nil {
		t.Errorf("rested %t, states %v, stopped %+v", rested, r.States, r.Stopped)
	}
}

// A row that is always answered with 429 is tried five times in a run, and then in the next
// one. The others go.
func TestARowThatIsAlwaysThrottledIsTriedFiveTimesInARun(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.posting = func(ctx context.Context, submit submission) (apiclient.Answer, error) {
		a, err := submit(ctx)
		//nolint:errorlint // the client returns it as it is
		if failure, ok := err.(*apiclient.CallError); ok && failure.RetryAfter > 0 {
			failure.RetryAfter = time.Millisecond // it waits for no longer
		}
		return a, err
	}
	f := b.behind(func(amount string) (int, string, bool, bool) { return 429, "", false, amount == "2" })
	b.contracts(6)
	for round := 1; round <= 2; round++ {
		r := b.sync(engine.Options{})
		if r.Stopped != nil || r.States[trade.Accepted] != 5 || f.asked("2") != 5*round {
			t.Errorf("run %d: states %v, stopped %+v; the row was sent %d times", round, r.States, r.Stopped,
				f.asked("2"))
		}
		e := b.expect(2, trade.Pending, "")
		if e.Error == nil || e.Error.Status != 429 || !strings.Contains(e.Error.Text(), "5 times in this run") {
			t.Errorf("run %d: the row says %+v", round, e.Error)
		}
	}
	f.mu.Lock()
	f.answer = func(string) (int, string, bool, bool) { return 0, "", false, false }
	f.mu.Unlock()
	b.sync(engine.Options{})
	if e := b.expect(2, trade.Accepted, ""); e.Error != nil {
		t.Errorf("%+v", e.Error)
	}
}

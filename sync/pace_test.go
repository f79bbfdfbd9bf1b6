package sync_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// I13: an API that is reached too slowly for the send window is not asked for ever.
func TestI13AWindowThatAlwaysPassesEndsTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	var posts atomic.Int32
	b.posting = func(context.Context, submission) (apiclient.Answer, error) {
		if posts.Add(1) > 60 {
			cancel()
		}
		answer := apiclient.Answer{Known: apiclient.NotSent}
		return answer, &apiclient.CallError{Answer: answer, Fault: apiclient.FaultWindow}
	}
	reports := must.Get(b.engine().Sync(ctx, nil, engine.Options{}))(t)
	if r := reports[0]; r.Stopped == nil || r.Stopped.Code != "api_unreachable" || r.States[trade.Pending] != 3 ||
		r.Sent != 0 {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
}

// F079: a machine that was suspended longer than a lease is trusted goes on, if nobody took the job
// meanwhile.
func TestF079ASuspendedRunGoesOnWithItsLease(t *testing.T) {
	t.Parallel()
	var b *bench
	b = newBench(t, sandbox.Options{OnPost: func(n int) {
		if n == 2 {
			b.clock.advance(time.Hour)
		}
	}})
	b.limits.MaxInFlight = 1
	b.contracts(5)
	b.wants(b.sync(engine.Options{}), "accepted 5, stop none")
}

func TestARunThatCannotBeginGivesItsLeaseBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.breaker.failing("StartRun", errBroken)
	b.wants(b.run(engine.Options{}), "stop ledger")
	b.breaker.mend()
	b.wants(b.sync(engine.Options{}), "accepted 1")
}

// A recheck that takes longer than it holds, as on a slow line to the ERP, still lets its rows go.
func TestARecheckThatTakesLongLetsItsRowsGo(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.breaker.before("ByKeys", func() error { b.clock.advance(3 * time.Second); return nil })
		b.wants(b.sync(engine.Options{}), "accepted 3")
	})
}

// Where requests take long, what was rechecked for too long is rechecked together, not row by row.
func TestRowsThatWaitAreRecheckedTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	b.contracts(60)
	var asked atomic.Int32
	b.breaker.before("ByKeys", func() error { asked.Add(1); return nil })
	b.beforePosts(func() { b.clock.advance(400 * time.Millisecond) })
	r := b.sync(engine.Options{})
	// one in two seconds, with five rows in each
	if r.States[trade.Accepted] != 60 || asked.Load() > 20 {
		t.Errorf("states %v; the ERP was asked %d times", r.States, asked.Load())
	}
}

package sync_test

import (
	"errors"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// F075: a run that begins while another one runs is refused.
func TestOneJobRunsOnce(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	b := newBench(t, sandbox.Options{OnPost: func(n int) {
		if n == 1 {
			close(arrived)
			<-release
		}
	}})
	b.contracts(1)
	done := make(chan error)
	first, second := b.engine(), b.engine()
	go func() {
		_, err := first.Sync(t.Context(), nil, engine.Options{})
		done <- err
	}()
	<-arrived
	_, err := second.Sync(t.Context(), nil, engine.Options{})
	var leased *trade.LeasedError
	if !errors.As(err, &leased) {
		t.Errorf("a second run of a leased job gives %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.expect(1, trade.Accepted, "")
}

// taken returns the lease of the contracts to another process, which gives it back.
func (b *bench) taken() error {
	b.leasesEnd()
	other, err := b.ledger.AcquireLease(b.t.Context(), "contracts",
		trade.Owner{Instance: "another", Host: "elsewhere", PID: 1})
	if err != nil {
		return err
	}
	return b.ledger.ReleaseLease(b.t.Context(), other)
}

// I12: a run whose lease went to another process while it read records and sends nothing more, and
// says why.
func TestARunWhoseLeaseWasTakenWhileItReads(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.breaker.before("Record", b.taken)
	b.wants(b.run(engine.Options{}), "stop lease, sent 0")
	b.breaker.mend()
	b.wants(b.sync(engine.Options{}), "accepted 2")
}

// I12: a job of which the ledger does not say any more that it is ours stops, and says why; the
// rest goes with the next run.
func TestALeaseThatCannotBeRenewedStopsTheJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	b.contracts(3)
	var once gosync.Once
	b.breaker.failing("RenewLease", errBroken)
	b.beforePosts(func() { once.Do(func() { b.clock.advance(29 * time.Second) }) })
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "lease" || !strings.Contains(r.Stopped.Text(), errBroken.Error()) ||
		r.States[trade.Accepted] != 0 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.breaker.mend()
	b.wants(b.sync(engine.Options{}), "accepted 3")
}

package sync_test

import (
	"context"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// F052, I1: rows whose results the ledger did not take are in doubt as soon as it can be told so,
// while another machine holds the job, and go no second time.
func TestRowsOfAFormerHolderWhoseResultsWereNotStored(t *testing.T) {
	// what it asks first, and how it says that it has left rows
	for _, call := range []string{"", "Leases", "RecoverOwn"} {
		t.Run(call, func(t *testing.T) {
			inDuo(t, func(d *duo) {
				for d.rows = range 12 {
					d.contract(d.rows + 1)
				}
				d.rows++
				open, let := d.a.hold(2), d.b.hold(1)
				d.a.run()
				d.pass(2 * time.Second)
				d.a.breaker.cutOff(true)
				if _, err := d.a.db.Exec(`UPDATE job_lease SET expires = 1`); err != nil { // it lives all the time
					d.t.Fatal(err)
				}
				d.b.run()
				d.pass(2 * time.Second)
				open()
				d.pass(4 * time.Second)
				if got := d.stateCounts("contracts"); got[trade.Sending] != 8 {
					d.t.Errorf("in flight, of both: %v", got)
				}
				d.a.breaker.cutOff(false)
				d.a.breaker.armNamed(call)
				d.pass(10 * time.Second)
				hit := d.a.breaker.disarm()
				if got := d.stateCounts("contracts"); hit != call || got[trade.InDoubt] != 4 ||
					got[trade.Sending] != 4 {
					d.t.Errorf("with %q failing while the other holds the job: %v", hit, got)
				}
				let()
				d.pass(10 * time.Second)
				d.a.stop()
				d.b.stop()
				if doubts := d.judge(hit); doubts != 4 {
					d.t.Errorf("with %q failing: %d rows are in doubt", hit, doubts)
				}
			})
		})
	}
}

// renewsNothing has a lease that cannot be renewed.
type renewsNothing struct{ Ledger }

func (renewsNothing) RenewLease(context.Context, trade.Lease) error { return errBroken }

// I12: a job of which the ledger does not say any more that it is ours stops, and says why; the
// rest goes with the next run.
func TestALeaseThatCannotBeRenewedStopsTheJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	b.contracts(3)
	var once gosync.Once
	b.surface = func(p engine.Platform) engine.Platform {
		return slowPlatform{p, func() { once.Do(func() { b.clock.advance(29 * time.Second) }) }}
	}
	b.wrap = func(l Ledger) Ledger { return renewsNothing{l} }
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "lease" || !strings.Contains(r.Stopped.Text, errBroken.Error()) ||
		r.States[trade.Accepted] != 0 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.wrap = nil
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 3 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

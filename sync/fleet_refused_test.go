package sync_test

import (
	"context"
	"maps"
	"net"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// leads lets the first machine begin a pass whose POSTs wait but for the first few, and gives what ends the waiting, and the report.
func (d *duo) leads(rows, free int) (open func(), done <-chan trade.RunReport) {
	d.t.Helper()
	for range rows {
		d.rows++
		d.contract(d.rows)
	}
	open = d.a.hold(free)
	e, out := d.a.engine(), make(chan trade.RunReport, 1)
	go func() {
		defer close(out)
		reports, _ := e.Sync(context.Background(), nil, engine.Options{}) // an error is judged by what comes of it
		for _, r := range reports {
			out <- r
		}
	}()
	d.t.Cleanup(func() { // nothing of it is left when the test is over
		open()
		for range out {
		}
	})
	d.pass(500 * time.Millisecond)
	return open, out
}

// A machine that cannot send for others says so and rests a minute, and does not try each second.
func TestAHandThatDoesNotReachThePlatformRests(t *testing.T) {
	inDuo(t, func(d *duo) {
		open, done := d.leads(12, 2)
		var dials atomic.Int32
		d.b.dial = func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
		}
		d.b.run()
		d.pass(5 * time.Second)
		first := dials.Load()
		d.pass(30 * time.Second)
		if n := dials.Load(); first == 0 || n != first {
			d.t.Errorf("%d connections were tried at first, and %d more in half a minute", first, n-first)
		}
		d.pass(40 * time.Second)
		if n := dials.Load(); n == first {
			d.t.Error("it is not tried again after a minute")
		}
		open()
		if r := <-done; r.States[trade.Accepted] != 12 || r.Stopped != nil {
			d.t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		d.b.stop()
		d.once()
	})
}

// countsReferences counts how often a machine makes ready to map rows.
type countsReferences struct {
	engine.Ledger
	n *atomic.Int32
}

func (l countsReferences) References(ctx context.Context) (map[string]map[string]string, string, error) {
	l.n.Add(1)
	return l.Ledger.References(ctx)
}

// A machine that maps otherwise sends nothing, and looks once a minute whether that is still so.
func TestAHandThatMapsOtherwiseRests(t *testing.T) {
	inDuo(t, func(d *duo) {
		open, done := d.leads(12, 2)
		d.b.spec.Fields = maps.Clone(d.b.spec.Fields)
		delete(d.b.spec.Fields, "payday")
		var looks atomic.Int32
		d.b.wrap = func(l engine.Ledger) engine.Ledger { return countsReferences{l, &looks} }
		d.b.run()
		d.pass(50 * time.Second)
		if n := looks.Load(); n != 1 {
			d.t.Errorf("it looked %d times in the first minute", n)
		}
		d.pass(20 * time.Second)
		if n := looks.Load(); n != 2 {
			d.t.Errorf("it looked %d times in 70 s", n)
		}
		open()
		if r := <-done; r.States[trade.Accepted] != 12 || d.b.sentBy() != 0 {
			d.t.Errorf("states %v, stopped %+v, %d attempts of the other", r.States, r.Stopped, d.b.sentBy())
		}
		d.b.stop()
		d.once()
	})
}

// A stop by one who helps is heard while the holder's own rows are on the wire, also when a call of the holder fails meanwhile.
func TestAStopByAHandIsHeardWhileTheHolderSends(t *testing.T) {
	inDuo(t, func(d *duo) {
		for _, call := range []string{"", "RenewLease", "Recover", "Leases"} { // what the holder does each 10 s; the order of it and of other calls is chance
			open, done := d.leads(12, 2)
			d.b.key = "another key"
			d.b.run()
			d.pass(6 * time.Second)
			d.a.breaker.armNamed(call)
			d.pass(9 * time.Second)
			hit := d.a.breaker.disarm()
			open()
			r := <-done
			d.b.stop()
			if r.Stopped == nil || r.Stopped.Code != "api_key" || hit != call {
				d.t.Errorf("%q should fail, and %q did: states %v, stopped %+v", call, hit, r.States, r.Stopped)
			}
			if doubts := d.judge(hit); doubts > 0 {
				d.t.Errorf("%s failed: %d rows are in doubt", hit, doubts)
			}
		}
	})
}

// The same while the holder has sent all that it may, and waits for what two others have on the wire.
func TestAStopByAHandIsHeardWhileTheHolderWaits(t *testing.T) {
	inDuo(t, func(d *duo) {
		c := machineOn(d.bench, "c")
		open, done := d.leads(24, 2)
		let, last := d.b.hold(1), c.hold(1)
		d.b.run()
		c.run()
		d.pass(3 * time.Second)
		open()
		d.pass(2 * time.Second)
		if got := d.stateCounts("contracts"); got[trade.Sending] != 8 || got[trade.Accepted] != 16 {
			d.t.Errorf("on the wire: %v", got)
		}
		d.api.SetAPIKey("another key")
		let()
		r := <-done
		if r.Stopped == nil || r.Stopped.Code != "api_key" || r.States[trade.Sending] != 4 {
			d.t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		d.api.SetAPIKey("a-key-of-the-tests")
		last()
		d.pass(2 * time.Second)
		d.b.stop()
		c.stop()
		c.expires()
		if doubts := d.judge("nothing"); doubts > 0 {
			d.t.Errorf("%d rows are in doubt", doubts)
		}
	})
}

// F052, I1: rows of one who helps whose results the ledger did not take are in doubt as soon as it can be told so, while the other goes on, and go no second time.
func TestRowsOfAHandWhoseResultsWereNotStored(t *testing.T) {
	inDuo(t, func(d *duo) {
		for n, call := range []string{"", "Leases", "Recover"} {
			open, done := d.leads(12, 2)
			let := d.b.hold(1) // by which it knows that the wallet is there
			d.b.run()
			d.pass(2 * time.Second)
			if n := d.stateCounts("contracts")[trade.Sending]; n != 8 {
				d.t.Fatalf("%d rows are on the wire, want those of both", n)
			}
			d.b.breaker.cutOff(true)
			let()
			d.pass(4 * time.Second)
			d.b.breaker.cutOff(false)
			d.b.breaker.armNamed(call) // what it asks first, and how it says that it has left rows
			d.pass(10 * time.Second)
			hit := d.b.breaker.disarm()
			open()
			r := <-done
			d.b.stop()
			if want := 4 * (n + 1); hit != call || r.States[trade.InDoubt] != want || r.States[trade.Accepted] != d.rows-want {
				d.t.Errorf("with %q failing: states %v, stopped %+v", hit, r.States, r.Stopped)
			}
			if doubts := d.judge(hit); doubts != 4*(n+1) {
				d.t.Errorf("with %q failing: %d rows are in doubt", hit, doubts)
			}
		}
	})
}

// renewsNothing has a lease that cannot be renewed.
type renewsNothing struct{ engine.Ledger }

func (renewsNothing) RenewLease(context.Context, trade.Lease) error { return errBroken }

// I12: a job of which the ledger does not say any more that it is ours stops, and says why; the rest goes with the next run.
func TestALeaseThatCannotBeRenewedStopsTheJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	b.contracts(3)
	var once gosync.Once
	b.surface = func(p engine.Platform) engine.Platform {
		return slowPlatform{p, func() { once.Do(func() { b.clock.advance(29 * time.Second) }) }}
	}
	b.wrap = func(l engine.Ledger) engine.Ledger { return renewsNothing{l} }
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "lease" || !strings.Contains(r.Stopped.Text, errBroken.Error()) || r.States[trade.Accepted] != 0 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.wrap = nil
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 3 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

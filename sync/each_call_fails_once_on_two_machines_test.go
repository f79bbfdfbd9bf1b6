package sync_test

import (
	"context"
	"testing"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// duo is an office with two machines.
type duo struct {
	*office
	a, b *machine
	rows int
}

// inDuo opens an office with two machines, whose jobs run only when a test says so.
func inDuo(t *testing.T, test func(d *duo)) {
	t.Helper()
	inOffice(t, time.UTC, "2026-11-21 06:00", func(o *office) {
		o.more, o.limits.KeepAnswers = nil, time.Second
		d := &duo{office: o, a: machineOn(o.bench, "a"), b: machineOn(o.bench, "b")}
		test(d)
	})
}

// leads lets the first machine begin a pass whose POSTs wait but for the first few, and gives what
// ends the waiting, and the report.
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

// judge lets the time of both machines end, makes one pass on a third, and counts what is in
// doubt: every row is on the platform once, and accepted or in doubt.
func (d *duo) judge(what string) (doubts int) {
	d.t.Helper()
	d.pass(time.Minute)
	d.a.expires() // the ledger's clock is not that of the bubble
	d.b.expires()
	if _, err := d.engine().Sync(d.t.Context(), nil, engine.Options{}); err != nil {
		d.t.Fatalf("%s: the run afterwards: %v", what, err)
	}
	d.once()
	states := d.stateCounts("contracts")
	doubts = states[trade.InDoubt]
	if states[trade.Accepted]+doubts != d.rows {
		d.t.Fatalf("%s: states %v of %d rows", what, states, d.rows)
	}
	if n := len(d.api.Created()); n > d.rows || n < states[trade.Accepted] {
		d.t.Fatalf("%s: %d rows, %d on the platform, states %v", what, d.rows, n, states)
	}
	return doubts
}

// F047, F048, F052, I12: each call that one of two machines makes of ledger, ERP and platform fails
// once while one of them sends the rows of a job, or takes it over: no row is lost, none goes
// twice, and none is in doubt whose result a later call could store.
func TestEveryCallOfTwoMachinesFailsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fails func(d *duo) *breaker
		taken bool
	}{
		"of the one who holds the job":     {func(d *duo) *breaker { return d.a.breaker }, false},
		"of the one who leaves it alone":   {func(d *duo) *breaker { return d.b.breaker }, false},
		"of the one who takes it over":     {func(d *duo) *breaker { return d.b.breaker }, true},
		"of the one from whom it is taken": {func(d *duo) *breaker { return d.a.breaker }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inDuo(t, func(d *duo) {
				br, failed := c.fails(d), 0
				first, step := sampled(0, 100)
				for at := first; ; at += step {
					br.arm(at, false)
					open, done := d.leads(12, 2)
					if c.taken { // cut off from the ledger for longer than its lease
						d.a.breaker.cutOff(true)
						d.a.expires()
					}
					d.b.run()
					d.pass(4 * time.Second)
					d.a.breaker.cutOff(false)
					open()
					d.pass(20 * time.Second)
					for range done { // what it says is judged by what comes of it
					}
					d.b.stop()
					hit := br.disarm()
					if doubts := d.judge(hit); doubts > 0 {
						d.t.Errorf("call %d failed (%s): %d rows are in doubt", at, hit, doubts)
					}
					if hit == "" {
						break
					}
					failed++
					d.t.Logf("call %d: %s", at, hit)
				}
				a, b := d.a.sentBy(), d.b.sentBy()
				if d.t.Logf("%d calls failed, %d attempts of a, %d of b", failed, a, b); failed == 0 || a == 0 ||
					c.taken && b == 0 {
					d.t.Error("nothing was tried")
				}
			})
		})
	}
}

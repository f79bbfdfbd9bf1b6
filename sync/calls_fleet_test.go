package sync_test

import (
	"context"
	"testing"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// duo is an office with two machines: a holds the job, b helps.
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

// shift is a pass of the first machine over some new rows, with which the second one helps.
func (d *duo) shift(rows int) {
	d.t.Helper()
	for range rows {
		d.rows++
		d.contract(d.rows)
	}
	open := d.a.hold(2)
	e, done := d.a.engine(), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = e.Sync(context.Background(), nil, engine.Options{}) // what it says is judged by what comes of it
	}()
	d.pass(500 * time.Millisecond)
	d.b.run()
	d.pass(4 * time.Second)
	open()
	d.pass(20 * time.Second)
	<-done
	d.b.stop()
}

// judge lets the time of both machines end, makes one pass on a third, and counts what is in doubt: every row is on the platform once, and accepted or in doubt.
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

// F047, F048, F052, I12: each call that one of two machines makes of ledger, ERP and platform fails once while they send the rows of one job: no row is lost, none goes twice, and none is in doubt whose
// result a later call could store.
func TestEveryCallOfTwoMachinesFailsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fails func(d *duo) *breaker
		key   string // of the one who helps; "" is the right one
	}{
		"of the one who holds the job":      {func(d *duo) *breaker { return d.a.breaker }, ""},
		"of the one who helps":              {func(d *duo) *breaker { return d.b.breaker }, ""},
		"of one who helps and must stop":    {func(d *duo) *breaker { return d.b.breaker }, "another key"},
		"of one for whom another must stop": {func(d *duo) *breaker { return d.a.breaker }, "another key"},
	} {
		t.Run(name, func(t *testing.T) {
			inDuo(t, func(d *duo) {
				br, failed := c.fails(d), 0
				d.b.key = c.key
				step := 1
				if !long {
					step = 14
				}
				for at := 1; ; at += step {
					br.arm(at, false)
					d.shift(12)
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
				d.t.Logf("%d calls failed, %d attempts of a, %d of b", failed, d.a.sentBy(), d.b.sentBy())
			})
		})
	}
}

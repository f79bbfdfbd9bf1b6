package sync_test

import (
	"context"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// F078: a clock that stood in the future once does not keep the sweeps away until then.
func TestF078ASweepOfTheFutureCountsAsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.clock.jump(365 * 24 * time.Hour)
	b.sync(engine.Options{})
	b.clock.jump(-365 * 24 * time.Hour)
	b.wants(b.sync(engine.Options{}), "sweep true")
}

// F020: a withdrawn row that comes back is the same entry.
func TestARowThatNeverWentIsWithdrawnAfterTwoSweepsAndComesBack(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0003'`)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET situacao = 'cancelado' WHERE num = '0003'`)
		b.sync(engine.Options{Sweep: true})
		b.expect(3, trade.Invalid, "rule:payday")
		b.sync(engine.Options{Sweep: true})
		b.expect(3, trade.Withdrawn, "")
		b.exec(`UPDATE contrato SET situacao = 'aprovado', pagamento = '2026-09-01' WHERE num = '0003'`)
		b.sync(engine.Options{Sweep: true})
		b.expect(3, trade.Accepted, "")
	})
}

// F026: far fewer rows than are known prove nothing, also with new ones beside them.
func TestF026AnEmptySweepProvesNothing(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(12)
		b.sync(engine.Options{})
		b.exec(`DELETE FROM contrato WHERE num > '0005'`)
		for more := range 4 { // the first time with none beside them
			r := b.sync(engine.Options{Sweep: true})
			if b.wants(r, "stop empty_sweep"); r.InScope != nil {
				t.Errorf("%d rows are in scope", *r.InScope)
			}
			for i := range 6 {
				b.contract(20 + 6*more + i)
			}
		}
		if e := b.entry(12); len(e.Flags) != 0 || e.GoneSweeps != 0 {
			t.Errorf("flags %v, gone %d", e.Flags, e.GoneSweeps)
		}
	})
}

// slowLedger is one in which a minute passes between the reading of rows and what is known of them.
type slowLedger struct {
	Ledger
	clock *testClock
}

func (l slowLedger) Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error) {
	l.clock.advance(time.Minute)
	return l.Ledger.Known(ctx, job, keys)
}

// A change is of the moment in which it was found: a long reading began before the ERP was edited, and
// before what it finds changed was sent.
func TestAChangeIsNotOlderThanItsDiscovery(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10)
	b.sweep()
	b.wrap = func(l Ledger) Ledger { return slowLedger{l, b.clock} }
	b.write(11)
	r := b.run(engine.Options{Sweep: true})
	e := b.expect(1, trade.Accepted, "")
	if !e.Flags.Has(trade.Changed) || e.UpdatedAt.Before(r.StartedAt.Add(time.Minute)) {
		t.Errorf("%v since %s, by a run that began %s", e.Flags, e.UpdatedAt, r.StartedAt)
	}
}

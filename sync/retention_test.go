package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

var retention = state.Retention{
	Bodies: 180 * 24 * time.Hour, Runs: 400 * 24 * time.Hour, IdleRuns: 30 * 24 * time.Hour,
	Audit: 5 * 365 * 24 * time.Hour, Journal: 1,
}

// retain does the retention by the clock of the bench, and counts the rows whose bodies went.
func (b *bench) retain() int {
	b.t.Helper()
	plan := must.Get(b.ledger.Retain(b.t.Context(), retention, b.clock.Now(),
		trade.AuditRecord{Who: "safrasync", From: "test", Target: "ledger", Reason: "the schedule"}))(b.t)
	for _, k := range plan {
		if k.Kind == state.KeptBodies {
			return k.Rows
		}
	}
	return 0
}

// I3: after the retention has taken everything that it may, sweeps, resyncs and reappearances
// send nothing a second time, and changes are still noticed.
func TestAfterTheRetentionNothingIsSentAgain(t *testing.T) {
	onBoth(t, failing("lost-after@3"), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(8)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0008'`) // invalid
		b.sync(engine.Options{})
		b.clock.advance(16 * time.Minute)
		b.done(b.adopt(3, b.api.Created()[2].ID), acts.NotRefused)
		b.exec(`DELETE FROM contrato WHERE num = '0007'`) // gone after it was sent
		b.sync(engine.Options{Sweep: true})
		set := func(what string, num int) {
			b.exec(`UPDATE contrato SET `+what+`, atualizado = ? WHERE num = ?`,
				b.clock.Now().UTC().Format("2006-01-02 15:04:05"), fmt.Sprintf("%04d", num))
		}
		set(`preco = 99`, 4)
		b.sync(engine.Options{Sweep: true})
		b.flags(4, "[changed]")
		b.clock.advance(200 * 24 * time.Hour)
		if n := b.retain(); n != 6 { // not the changed one, not the invalid one
			t.Errorf("%d rows lost their bodies, want 6", n)
		}
		if got := b.acknowledge(4); got[0] != acts.NotRefused {
			t.Errorf("acknowledging is refused: %s", got)
		}
		posts := len(b.api.Created())
		quiet := func(what string) {
			t.Helper()
			for range 2 {
				b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, stop none, changed 0")
			}
		}
		quiet("after the retention")
		for i := 1; i <= 3; i++ {
			if e := b.expect(i, trade.Accepted, ""); e.Payload != nil || !e.Values.Marked() || len(e.Flags) > 0 {
				t.Errorf("row %d: %+v", i, e)
			}
		}
		// A change of a row that holds nothing any more is noticed; what comes to the same is none;
		// back to what was sent is none either.
		set(`preco = 120.500, produto = ' SOJA '`, 1)
		b.sync(engine.Options{Sweep: true})
		b.flags(1, "[]")
		set(`preco = 121`, 1)
		b.sync(engine.Options{})
		b.flags(1, "[changed]")
		e := b.entry(1)
		if d := mapping.Differences(b.acts().Jobs[0], e, nil, nil); len(d) != 1 || d[0].Field != "price" ||
			*d[0].Now != "121" || d[0].Sent != nil {
			t.Errorf("differences %+v", d)
		}
		set(`preco = 120.5`, 1)
		b.sync(engine.Options{})
		b.flags(1, "[]")
		set(`preco = 122`, 1)
		b.sync(engine.Options{})
		if got := b.acknowledge(1); got[0] != acts.NotRefused {
			t.Errorf("acknowledging is refused: %s", got)
		}
		b.flags(1, "[]")
		b.clock.advance(200 * 24 * time.Hour)
		if n := b.retain(); n != 2 { // the two that were acknowledged
			t.Errorf("%d rows lost their bodies, want 2", n)
		}
		quiet("after the second retention")
		set(`preco = 120.5`, 1) // what was sent; but somebody has dealt with 122
		b.sync(engine.Options{})
		b.flags(1, "[changed]")
		// The row that had gone comes back, as it was and changed: it is the same record.
		b.contract(7)
		b.sync(engine.Options{Sweep: true})
		b.flags(7, "[]")
		// The same content under a key of its own, and re-typed under another.
		b.exec(`DELETE FROM contrato WHERE num = '0002'`)
		b.exec(
			`INSERT INTO contrato SELECT filial, '9002', 2, 120.5, 'soja', '1', situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0003'`)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0")
		b.expect(9002, trade.Held, trade.CauseRetyped)
		// Another mapping alone changes nothing.
		day := "2026-05-02"
		b.spec.Fields["initial_delivery_date"] = mapping.FieldSpec{Const: &day}
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, changed flags 1")
		b.records("order_commitments", posts)
	})
}

// What was taken out, and lost what it held, is judged anew when it is brought back.
func TestARowThatWasTakenOutForLongIsReadAgainWhenItIsReopened(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.api.SetAPIKey("another key")
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0003'`)
		b.exec(`UPDATE contrato SET carteira = '9' WHERE num = '0002'`)
		b.sync(engine.Options{})
		b.expect(1, trade.Pending, "")
		b.api.SetAPIKey("a-key-of-the-tests")
		b.done(b.dismiss(1), acts.NotRefused)
		b.done(b.dismiss(2), acts.NotRefused)
		b.done(b.dismiss(3), acts.NotRefused)
		b.clock.advance(200 * 24 * time.Hour)
		if n := b.retain(); n != 3 {
			t.Fatalf("%d rows lost their bodies", n)
		}
		b.exec(`UPDATE contrato SET pagamento = '2026-07-01', carteira = '1'`)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0")
		b.done(b.reopen(1), acts.NotRefused)
		b.expect(1, trade.Invalid, "")
		b.done(b.reopen(2), acts.NotRefused)
		b.done(b.reopen(3), acts.NotRefused)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 3, accepted 3")
	})
}

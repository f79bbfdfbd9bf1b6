package sync_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// renumber gives a contract another number, and what hangs on it.
func (b *bench) renumber(from, to int) {
	b.t.Helper()
	for _, table := range []string{"contrato", "entrega", "rateio"} {
		b.exec(`UPDATE `+table+` SET num = ? WHERE num = ?`, fmt.Sprintf("%04d", to), fmt.Sprintf("%04d", from))
	}
}

// gave checks that a contract has given its record to another.
func (b *bench) gave(num int, id string) {
	b.t.Helper()
	if e := b.expect(num, trade.Accepted, ""); e.RemoteID != "" || e.MovedID != id || !e.Flags.Has(trade.Moved) {
		b.t.Errorf("contract %d: id %q, moved %q, flags %v", num, e.RemoteID, e.MovedID, e.Flags)
	}
}

// got checks that a contract which was never sent has a record.
func (b *bench) got(num int, id string) {
	b.t.Helper()
	if e := b.expect(num, trade.Accepted, ""); e.RemoteID != id || e.MovedID != "" || e.Attempts != 0 {
		b.t.Errorf("contract %d: id %q, moved %q, %d attempts", num, e.RemoteID, e.MovedID, e.Attempts)
	}
}

// F021: a contract that was renumbered takes the id of its old number over, and what hangs on
// either number goes; nothing is sent twice.
func TestF021ARetypedContractTakesTheRecordOfItsOldNumberOver(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.delivery(1, 1, 100)
		b.pass()
		id, other := b.entry(1).RemoteID, b.entry(2).RemoteID
		b.renumber(1, 9)
		b.delivery(2, 9, 200)
		b.delivery(3, 1, 250) // somebody has an old paper
		b.share("A", 9, 300)
		sweep := func(sent map[string]int) {
			t.Helper()
			reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true}))(t)
			for _, r := range reports {
				b.adds(r)
				if r.Sent != sent[r.Job] || r.Stopped != nil {
					t.Errorf("%s: sent %d, want %d; stopped %+v", r.Job, r.Sent, sent[r.Job], r.Stopped)
				}
			}
			b.records("order_commitments", 2)
		}
		sweep(nil) // what has the old number waits too: nobody knows yet what that number names
		if e := b.expect(9, trade.Held, trade.CauseRetyped); !strings.Contains(e.Error.Text(), id) {
			t.Errorf("the text names no id: %s", e.Error.Text())
		}
		b.row("traceability", "A", trade.Waiting, trade.CauseParent)

		b.done(b.adopt(9, other), acts.IDTaken) // contract 2 stands in the ERP
		step := b.adopt(9, id)
		b.done(step, acts.NotRefused)
		if step.Holder.Key != key(1) || step.GivesUp == nil || step.Reading == nil || step.Reading.Differ != 0 {
			t.Errorf("step %+v", step)
		}
		b.gave(1, id)
		b.got(9, id)
		b.delivery(4, 1, 270)
		sweep(map[string]int{"deliveries": 3, "traceability": 1})
		for _, r := range b.createdOf("deliveries") {
			if r.Fields["contract_id"] != id {
				t.Errorf("a delivery went to %v, want %s", r.Fields["contract_id"], id)
			}
		}
		audit, err := b.ledger.Audit(t.Context(), 1)
		if err != nil || len(audit) != 1 || audit[0].Target != "contracts "+key(9) ||
			!strings.Contains(audit[0].Detail, `"moved_id":"`+id) || !strings.Contains(audit[0].Detail, key(1)) {
			t.Errorf("audit %+v, %v", audit, err)
		}
		for range 2 { // what the act explains is no news
			sweep(nil)
		}
		if e := b.entry(1); e.Flags.Has(trade.MissingInERP) || e.GoneSweeps == 0 {
			t.Errorf("contract 1: flags %v, gone %d", e.Flags, e.GoneSweeps)
		}

		// Renumbered once more, the record goes on, and both old numbers lead to it.
		b.renumber(9, 10)
		b.delivery(5, 1, 280)
		b.delivery(6, 9, 290)
		sweep(map[string]int{"deliveries": 1}) // of the first number, which was decided
		b.expect(10, trade.Held, trade.CauseRetyped)
		b.done(b.adopt(10, id), acts.NotRefused)
		b.gave(9, id)
		b.gave(1, id)
		b.got(10, id)

		// A number that comes back is told, and is not sent.
		b.contract(1)
		sweep(map[string]int{"deliveries": 1})
		b.gave(1, id)
		b.got(10, id)
		b.flagsOf(b.entry(1), "[contradicted moved]")
		sweep(nil)
	})
}

// What a person adopts is what went, or what the platform showed: a row that holds something else now is
// flagged with both, also after later sweeps. A wallet that was made anew is no difference of the row.
func TestAnAdoptedRowThatDiffersKeepsWhatWasSent(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		id, typed := b.entry(1).RemoteID, must.Get(b.api.TypeCommitment(b.entry(2).Payload, b.clock.Now()))(t)
		sent := string(b.entry(1).Payload)
		b.exec(`UPDATE de_para SET id = '9b98fbe4-6680-4a11-9ba1-192ec42b7179' WHERE tipo = 'carteira'`)
		b.renumber(1, 9)
		b.exec(`UPDATE contrato SET quantidade = quantidade + 23 WHERE num = '0009'`)
		b.sync(engine.Options{Sweep: true})
		b.expect(9, trade.Held, trade.CauseRetyped)
		b.contract(3)
		must.Get(b.engine().Sync(t.Context(), nil, engine.Options{RecordOnly: true}))(t)
		adopt := func(num int, id string, differ, recoded int) {
			t.Helper()
			step := b.adopt(num, id)
			b.done(step, acts.Differs)
			names := 0
			for _, f := range step.Reading.Fields {
				if f.Recoded {
					names++
					if f.SentName != "1" || f.ThereName != "1" {
						t.Errorf("%+v names no code", f)
					}
				}
			}
			if step.Reading.Differ != differ || names != recoded {
				t.Errorf("%d fields differ, of which %d only in the table: %+v", step.Reading.Differ, names, step.Reading)
			}
			b.done(b.adoptRow("contracts", key(num), acts.Adoption{ID: id, DespiteDifferences: true}), acts.NotRefused)
		}
		adopt(9, id, 1, 1)
		adopt(3, typed, 2, 1)
		job := must.Get(mapping.Compile(b.spec, b.zone))(t)
		for range 2 {
			for num, want := range map[int]string{9: "1 24", 3: "2 3"} {
				e := b.expect(num, trade.Accepted, "")
				differ := mapping.Differences(job, e, must.Get(run.Codes(t.Context(), b.ledger))(t), nil)
				if !e.Flags.Has(trade.Changed) || len(differ) == 0 || *differ[0].Sent+" "+*differ[0].Now != want {
					t.Errorf("contract %d: flags %v, %+v, want %s", num, e.Flags, differ, want)
				}
			}
			b.sync(engine.Options{Sweep: true})
		}
		if now := string(b.entry(9).Payload); now != sent {
			t.Errorf("the row keeps %s, and %s was sent", now, sent)
		}
		b.exec(`UPDATE contrato SET quantidade = quantidade - 23, atualizado = '2026-03-14 08:00:00' WHERE num = '0009'`)
		b.sync(engine.Options{})
		if e := b.expect(9, trade.Accepted, ""); e.Flags.Has(trade.Changed) {
			t.Errorf("the value came back, and the flags are %v", e.Flags)
		}
	})
}

// An id is taken over only from a row that is gone, or cancelled, and only while both rows stand as
// they were shown.
func TestAnIDIsTakenOverOnlyFromARowThatIsGone(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		id := b.entry(1).RemoteID
		b.exec(`UPDATE contrato SET situacao = 'cancelado' WHERE num = '0001'`) // cancelled, and typed again
		b.exec(
			`INSERT INTO contrato VALUES ('01', '0009', 1, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 09:00:00')`)
		b.sync(engine.Options{Sweep: true})
		b.expect(9, trade.Held, trade.CauseRetyped)
		b.exec(`UPDATE contrato SET situacao = 'aprovado' WHERE num = '0001'`)
		b.done(b.adopt(9, id), acts.IDTaken)
		b.exec(`UPDATE contrato SET situacao = 'cancelado' WHERE num = '0001'`)

		people := b.acts()
		plan := func() acts.RowPlan {
			t.Helper()
			p, err := people.Adopt(t.Context(), "contracts", key(9), acts.Adoption{ID: id})
			if err != nil || !p.Possible() {
				t.Fatalf("%+v, %v", p, err)
			}
			return p
		}
		do := func(p acts.RowPlan) acts.Refusal {
			t.Helper()
			p, err := people.Do(context.Background(), p, maria)
			if err != nil {
				t.Fatal(err)
			}
			return p.Steps[0].Refused
		}
		stale := plan()
		b.done(b.actOn("contracts", key(1), (*acts.Acts).Acknowledge), acts.HeldForIt) // nobody decided on the pair
		b.byHand(`UPDATE entry SET version = version + 1 WHERE key = ?`, "01|0001")    // as another process may
		if got := do(stale); got != acts.Moved {
			t.Errorf("the old row had moved, and the act was %q", got)
		}
		b.expect(9, trade.Held, trade.CauseRetyped)
		twice, again := plan(), plan()
		if first, second := do(twice), do(again); first != acts.NotRefused || second != acts.Moved {
			t.Errorf("two people: %q, %q", first, second)
		}
		b.gave(1, id)
		b.got(9, id)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, cancelled flags 0")
		b.exec(`UPDATE contrato SET preco = 130 WHERE num = '0009'`) // the new row is compared as any that was sent
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, changed flags 1")
	})
}

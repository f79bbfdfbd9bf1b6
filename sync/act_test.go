package sync_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// acknowledge deals with the flags of rows and gives what became of each.
func (b *bench) acknowledge(nums ...int) []acts.Refusal {
	b.t.Helper()
	var keys []string
	for _, n := range nums {
		keys = append(keys, key(n))
	}
	people := b.acts()
	plan, err := people.Acknowledge(b.t.Context(), "contracts", keys)
	if err == nil {
		plan, err = people.Do(b.t.Context(), plan, maria)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	var out []acts.Refusal
	for _, s := range plan.Steps {
		out = append(out, s.Refused)
	}
	return out
}

// flags checks all flags of a contract that was accepted, flagsOf those of any row.
func (b *bench) flags(num int, want string) {
	b.t.Helper()
	b.flagsOf(b.expect(num, trade.Accepted, ""), want)
}

func (b *bench) flagsOf(e trade.Entry, want string) {
	b.t.Helper()
	if got := fmt.Sprint(e.Flags); got != want {
		b.t.Errorf("%s %s has flags %s, want %s", e.Job, e.Key, got, want)
	}
}

// Who acknowledges a contract whose number another document has lets what waits go under the old record: the
// plan says how much and whose it is, and the row is decided alone.
func TestANumberThatAnotherDocumentHasIsAcknowledgedAlone(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.delivery(1, 1, 100)
		b.pass()
		b.exec(`UPDATE contrato SET produto = 'milho', quantidade = 77, atualizado = '2026-03-13 08:00:00' WHERE num = '0001'`)
		b.exec(`UPDATE contrato SET preco = 77, atualizado = '2026-03-13 08:00:00' WHERE num = '0002'`)
		b.delivery(2, 1, 200)
		b.pass()
		b.row("deliveries", "01|0002", trade.Waiting, trade.CauseParent)
		if got := b.acknowledge(1, 2); !cmp.Equal(got, []acts.Refusal{acts.Alone, ""}) {
			t.Errorf("many at once: %q", got)
		}
		step := b.actOn("contracts", key(1), (*acts.Acts).Acknowledge)
		if b.done(step, acts.NotRefused); step.Under == nil || *step.Under != (acts.Under{
			Rows:     1,
			Producer: producerID,
		}) {
			t.Errorf("the plan says that %+v would go under the record", step.Under)
		}
	})
}

func TestAnAcknowledgedFlagIsGoneUntilTheRowDiffersFromWhatWasAcknowledged(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(5)
		b.sync(engine.Options{})
		sweep := func() trade.RunReport { t.Helper(); return b.sync(engine.Options{Sweep: true}) }
		set := func(what, num string) { b.exec(`UPDATE contrato SET `+what+` WHERE num = ?`, num) }
		set(`preco = 121`, "0001")
		set(`situacao = 'cancelado'`, "0002")
		b.exec(`DELETE FROM contrato WHERE num = '0003'`)
		sweep()
		if got := b.acknowledge(1, 2, 3, 4, 77); !cmp.Equal(got,
			[]acts.Refusal{"", "", "", acts.NothingToAck, acts.UnknownRow}) {
			t.Fatalf("refusals %q", got)
		}
		for i := 1; i <= 3; i++ {
			b.flags(i, "[]")
		}
		set(`obs = 'x', atualizado = '2026-03-20 08:00:00'`, "0001") // a touched timestamp, an unmapped column
		version := b.entry(2).Version
		for range 3 {
			if r := sweep(); r.NeedsPerson() || r.Changed != 0 {
				t.Errorf("flags %v, changed %d", r.Flags, r.Changed)
			}
		}
		if now := b.entry(2).Version; now != version {
			t.Error("a cancelled row that was acknowledged is written in each sweep")
		}
		// A further change flags again; what was acknowledged is what it is compared with.
		set(`preco = 122`, "0001")
		sweep()
		b.flags(1, "[changed]")
		set(`preco = 121.0`, "0001")
		sweep()
		b.flags(1, "[]")
		set(`preco = 120.5`, "0001") // what was sent: but somebody has dealt with 121
		sweep()
		b.flags(1, "[changed]")
		d := mapping.Differences(b.acts().Jobs[0], b.entry(1), nil, nil)
		if len(d) != 1 || d[0].Field != "price" || *d[0].Sent != "120.5" || *d[0].Acknowledged != "121" ||
			*d[0].Now != "120.5" {
			t.Errorf("differences %+v", d)
		}
		// Back, and gone again: each is news.
		set(`situacao = 'aprovado'`, "0002")
		b.contract(3)
		sweep()
		b.flags(2, "[]")
		b.flags(3, "[]")
		set(`situacao = 'cancelado'`, "0002")
		b.exec(`DELETE FROM contrato WHERE num = '0003'`)
		sweep()
		b.flags(2, "[cancelled]")
		b.flags(3, "[missing]")
		b.records("order_commitments", 5)
	})
}

func TestF155AChangeAfterSendingTellsItsFieldsOldAndNewAndSendsNothing(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(1)
		b.sync(engine.Options{})
		b.exec(
			`UPDATE contrato SET preco = 121.25, produto = 'feijao', carteira = '9', pagamento = NULL, obs = 'x', atualizado = '2026-03-12 08:00:00' WHERE num = '0001'`)
		b.sync(engine.Options{})
		b.flags(1, "[changed replaced]") // a product that nobody knows may be another document
		b.records("order_commitments", 1)
		refs, _, err := b.ledger.References(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e := b.entry(1)
		got := must.Get(json.Marshal(mapping.Differences(b.acts().Jobs[0], e, refs, nil)))(t)
		want := []string{
			`{"field":"product","columns":["produto"],"sent":"SOJA","acknowledged":null,"now":null,"erp_sent":"soja","erp_now":"feijao"}`,
			`{"field":"wallet_id","columns":["carteira"],"sent":"` + walletID +
				`","acknowledged":null,"now":null,"erp_sent":"1","erp_now":"9"}`,
			`{"field":"price","columns":["preco"],"sent":"120.5","acknowledged":null,"now":"121.25","erp_sent":"120.5","erp_now":"121.25"}`,
			`{"field":"payday","columns":["pagamento"],"sent":"2026-07-01","acknowledged":null,"now":null,"erp_sent":"2026-07-01","erp_now":""}`,
		}
		if diff := cmp.Diff("["+strings.Join(want, ",")+"]", string(got)); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
		if d := mapping.Differences(nil, e, nil, nil); len(d) != 4 || d[0].Columns[0] != "carteira" ||
			d[0].ERPNow != "9" {
			t.Errorf("the columns of a job that is no longer configured: %+v", d)
		}
		if _, kept := e.Now["obs"]; kept {
			t.Error("a column that nobody maps is kept")
		}
		b.exec(
			`UPDATE contrato SET preco = 120.50, produto = 'SOJA', carteira = '1 ', pagamento = '2026-07-01', atualizado = '2026-03-13 08:00:00' WHERE num = '0001'`)
		b.sync(engine.Options{})
		b.flags(1, "[]")
		if e := b.entry(1); e.Now != nil || mapping.Differences(b.acts().Jobs[0], e, refs, nil) != nil {
			t.Errorf("the newest row is kept although it is what was sent: %v", e.Now)
		}
	})
}

func TestAnAcknowledgementIsAuditedAndHoldsOnlyForWhatWasSeen(t *testing.T) {
	onEither(t, failing("lost-after@2"), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(2)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET preco = 121, atualizado = '2026-03-12 08:00:00'`)
		b.sync(engine.Options{})
		people := b.acts()
		plan, err := people.Acknowledge(t.Context(), "contracts", []string{key(1), key(2), key(1)})
		if err != nil || len(plan.Steps) != 2 || plan.Steps[0].Refused != "" ||
			plan.Steps[1].Refused != acts.NotAccepted {
			t.Fatalf("%+v, %v", plan, err)
		}
		b.exec(`UPDATE contrato SET preco = 125, atualizado = '2026-03-12 09:00:00' WHERE num = '0001'`)
		b.sync(engine.Options{})
		if done, err := people.Do(t.Context(), plan, maria); err != nil || done.Steps[0].Refused != acts.Moved {
			t.Errorf("a change that the person did not see was acknowledged: %+v, %v", done, err)
		}
		b.flags(1, "[changed]")
		if got := b.acknowledge(1); got[0] != acts.NotRefused {
			t.Errorf("refused: %s", got)
		}
		audit, err := b.ledger.Audit(t.Context(), 0)
		if err != nil || len(audit) != 1 {
			t.Fatalf("audit %+v, %v", audit, err)
		}
		a := audit[0]
		if a.Act != "acknowledge" || a.Target != "contracts "+key(1) || a.Who != "maria" || a.Reason != maria.Reason {
			t.Errorf("%+v", a)
		}
		var detail struct {
			Before, After struct{ Flags, Acknowledged []string }
			Changes       []struct{ Field, Sent, Now string }
		}
		must.Do(t, json.Unmarshal([]byte(a.Detail), &detail))
		if got := fmt.Sprintf("%+v",
			detail); got != "{Before:{Flags:[changed] Acknowledged:[]} After:{Flags:[] Acknowledged:[changed]} Changes:[{Field:price Sent:120.5 Now:125}]}" {
			t.Errorf("detail %s", got)
		}
	})
}

// An act whose record has no text, as in the year 10000, is not done.
func TestAnActThatCannotBeAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.sync(engine.Options{})
	people := b.acts()
	people.Now = func() time.Time { return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }
	plan, err := people.Pause(t.Context(), "contracts", maria)
	if err == nil {
		_, err = people.DoJob(t.Context(), plan, maria)
	}
	if err == nil || !strings.Contains(err.Error(), "pause") {
		t.Errorf("%v", err)
	}
	b.stands("contracts", trade.Idle, "")
}

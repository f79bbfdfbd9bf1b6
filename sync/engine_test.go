package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func TestASecondRunSendsNothingAndAsksNothing(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(20)
		b.wants(b.sync(engine.Options{}), "new 20, sent 20, accepted 20, stop none")
		requests := b.api.Requests()
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, new 0, changed 0, unchanged 20")
		if n := b.api.Requests() - requests; n != 0 {
			t.Errorf("an idle run made %d requests", n)
		}
		for _, r := range b.api.Created() {
			if e := b.entry(numberOf(t, r)); e.RemoteID != r.ID {
				t.Errorf("row %s has id %s, the platform gave %s", e.Key, e.RemoteID, r.ID)
			}
		}
	})
}

func numberOf(t testing.TB, r sandbox.Record) int {
	t.Helper()
	var n int
	must.Get(fmt.Sscan(fmt.Sprint(r.Fields["amount"]), &n))(t)
	return n
}

// I1: when the bytes are there, the intent is on disk, for everybody to see.
func TestI1TheIntentIsDurableWhenTheRequestArrives(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		checked := 0
		var b *bench
		b = newBenchOn(t, db, sandbox.Options{OnPost: func(int) {
			rows := 0
			err := b.ledger.Rows(t.Context(), trade.RowQuery{States: []trade.State{trade.Sending}},
				func(e trade.Entry) error {
					attempts, err := b.ledger.Attempts(t.Context(), e.ID)
					if err == nil && len(attempts) == 1 && attempts[0].Outcome == trade.OutcomeOpen &&
						string(attempts[0].Payload) == string(e.Payload) {
						rows++
					}
					return err
				})
			if err != nil || rows == 0 {
				t.Errorf("a request arrived while %d intents were on disk (%v)", rows, err)
			}
			checked++
		}})
		b.limits.MaxInFlight = 1
		b.contracts(3)
		b.sync(engine.Options{})
		if checked != 3 {
			t.Errorf("%d requests arrived, want 3", checked)
		}
	})
}

func TestAnUnreachableAPILosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	must.Do(t, b.api.Close())
	b.wants(b.sync(engine.Options{}), "stop api_unreachable, pending 3, sent 0")
}

func TestAnInvalidRowNamesEveryBadFieldAndGoesByItselfWhenItIsCured(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.exec(`UPDATE contrato SET pagamento = NULL, preco = -1, produto = 'feijao' WHERE num = '0002'`)
		b.wants(b.sync(engine.Options{}), "invalid 1, sent 1")
		e := b.expect(2, trade.Invalid, "rule:product")
		var rules []string
		for _, f := range e.Error.Fields {
			rules = append(rules, f.Field+" "+f.Rule)
		}
		if got, want := fmt.Sprint(rules), "[product unmapped price positive payday required_for_COMPRA]"; got != want {
			t.Errorf("problems %s, want %s", got, want)
		}
		if got, want := e.Error.Fields[2].Sentence(trade.English),
			"COMPRA requires payday; column pagamento is empty"; got != want {
			t.Errorf("sentence %q, want %q", got, want)
		}
		b.exec(
			`UPDATE contrato SET pagamento = '2026-08-01', preco = 10, produto = 'SOJA ', atualizado = '2026-03-11 08:00:00' WHERE num = '0002'`)
		b.sync(engine.Options{})
		b.expect(2, trade.Accepted, "")
	})
}

// F013, F018, F019, F155: what was sent and then changed, cancelled or deleted is flagged and never
// sent again, also when it comes back.
func TestFlagsTellWhatTheERPDidAfterSending(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(5)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET preco = 121, atualizado = '2026-03-12 08:00:00' WHERE num = '0001'`)
		b.exec(`UPDATE contrato SET situacao = 'cancelado', atualizado = '2026-03-12 08:00:00' WHERE num = '0002'`)
		b.exec(`UPDATE contrato SET obs = 'x', atualizado = '2026-03-12 08:00:00' WHERE num = '0003'`)
		b.exec(`DELETE FROM contrato WHERE num = '0004'`)
		r := b.sync(engine.Options{Sweep: true})
		for num, want := range map[int]string{1: "[changed]", 2: "[cancelled]", 3: "[]", 4: "[missing]", 5: "[]"} {
			if got := fmt.Sprint(b.expect(num, trade.Accepted, "").Flags); got != want {
				t.Errorf("row %d has flags %s, want %s", num, got, want)
			}
		}
		if r.Sent != 0 || *r.Gone != 1 || *r.InScope != 4 {
			t.Errorf("sent %d, gone %d, in scope %d", r.Sent, *r.Gone, *r.InScope)
		}
		b.exec(`UPDATE contrato SET preco = 120.50, atualizado = '2026-03-13 08:00:00' WHERE num = '0001'`)
		b.exec(`UPDATE contrato SET situacao = 'aprovado', atualizado = '2026-03-13 08:00:00' WHERE num = '0002'`)
		b.contract(4)
		b.sync(engine.Options{Sweep: true})
		for num := 1; num <= 5; num++ {
			if flags := b.expect(num, trade.Accepted, "").Flags; len(flags) != 0 {
				t.Errorf("row %d keeps flags %v although the value came back", num, flags)
			}
		}
	})
}

func TestAChangedConfigurationAloneFlagsNothing(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.sync(engine.Options{})
		b.spec.Fields["price"] = mapping.FieldSpec{Columns: []string{"quantidade"}}
		b.spec.Fields["haverst"] = mapping.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
		b.wants(b.sync(engine.Options{}), "sweep true, sent 0")
		for num := 1; num <= 3; num++ {
			if flags := b.expect(num, trade.Accepted, "").Flags; len(flags) != 0 {
				t.Errorf("row %d: %v", num, flags)
			}
		}
	})
}

func TestF022ADoubleKeyIsHeldUntilItIsCured(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
		b.contracts(3)
		b.exec(
			`INSERT INTO copia SELECT filial, num, 99, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM copia`
		b.wants(b.sync(engine.Options{}), "sent 2, in_scope 3")
		b.expect(2, trade.Held, trade.CauseDuplicateKey)
		b.sync(engine.Options{Sweep: true})
		b.expect(2, trade.Held, trade.CauseDuplicateKey)
		b.exec(`DELETE FROM copia`)
		b.sync(engine.Options{Sweep: true})
		b.expect(2, trade.Accepted, "")
	})
}

func TestF100AnIdThatAnotherRowHasIsADoubt(t *testing.T) {
	onBoth(t, failing("again@2"), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(4)
		b.wants(b.sync(engine.Options{}), "stop answers, in_doubt 1, accepted 1")
	})
}

// F016, F017, F019: a row that is edited, deleted or cancelled between the reading and its intent.
func TestI8ARowThatVanishesOrChangesBeforeItsIntentIsNotSentAsItWas(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		var b *bench
		b = newBenchOn(t, db, sandbox.Options{OnPost: func(n int) {
			if n == 1 {
				b.exec(`DELETE FROM contrato WHERE num = '0002'`)
				b.exec(`UPDATE contrato SET quantidade = 33 WHERE num = '0003'`)
				b.exec(`UPDATE contrato SET situacao = 'cancelado' WHERE num = '0004'`)
				b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0005'`)
				b.clock.advance(3 * time.Second) // the last look at them is too old now
			}
		}})
		b.limits.MaxInFlight = 1
		b.contracts(5)
		b.sync(engine.Options{})
		b.expect(1, trade.Accepted, "")
		b.expect(2, trade.Held, trade.CauseVanished)
		b.expect(3, trade.Accepted, "")
		b.expect(4, trade.Held, trade.CauseVanished)
		b.expect(5, trade.Invalid, "rule:payday")
		if got := fmt.Sprint(b.api.Created()[1].Fields["amount"]); got != "33" {
			t.Errorf("amount %s was sent, want the one that the ERP has now", got)
		}
	})
}

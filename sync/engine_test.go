package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func TestASecondRunSendsNothingAndAsksNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(20)
		first := b.sync(engine.Options{})
		if first.New != 20 || first.Sent != 20 || first.States[trade.Accepted] != 20 || first.Stopped != nil {
			t.Fatalf("first run: %+v", first)
		}
		requests := b.api.Requests()
		second := b.sync(engine.Options{Sweep: true})
		if second.Sent != 0 || second.New != 0 || second.Changed != 0 || second.Unchanged != 20 {
			t.Errorf("second run: %+v", second)
		}
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
	if _, err := fmt.Sscan(fmt.Sprint(r.Fields["amount"]), &n); err != nil {
		t.Fatal(err)
	}
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

func TestF092AnExecutedRequestWithoutAnAnswerIsInDoubtAndNeverSentAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-after@2")})
	b.limits.MaxInFlight = 1
	b.contracts(4)
	r := b.sync(engine.Options{})
	if r.States[trade.Accepted] != 3 || r.States[trade.InDoubt] != 1 {
		t.Fatalf("states %v", r.States)
	}
	e := b.expect(2, trade.InDoubt, trade.CauseUnknown)
	if e.Error == nil || e.Error.Kind != trade.TransportError || e.Attempts != 1 {
		t.Errorf("entry %+v, error %+v", e, e.Error)
	}
	if again := b.sync(engine.Options{Sweep: true}); again.Sent != 0 || len(b.api.Created()) != 4 {
		t.Errorf("the second run sent %d; the platform has %d", again.Sent, len(b.api.Created()))
	}
}

func TestThreeUnknownOutcomesInARowStopTheJobAndABudgetOfOneFliesMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=500,commit@2-")})
	b.limits.MaxInFlight = 1
	b.contracts(10)
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "in_doubt" || r.States[trade.InDoubt] != 3 || r.Sent != 4 {
		t.Fatalf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
	b.api.SetFaults()
	r = b.sync(engine.Options{})
	if r.States[trade.Accepted] != 7 || r.States[trade.InDoubt] != 3 {
		t.Errorf("a sync by hand goes on with the rest: %v", r.States)
	}
}

func TestAnUnreachableAPILosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	if err := b.api.Close(); err != nil {
		t.Fatal(err)
	}
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "api_unreachable" || r.States[trade.Pending] != 3 || r.Sent != 0 {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
}

func TestAnInvalidRowNamesEveryBadFieldAndGoesByItselfWhenItIsCured(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.exec(`UPDATE contrato SET pagamento = NULL, preco = -1, produto = 'feijao' WHERE num = '0002'`)
		r := b.sync(engine.Options{})
		if r.States[trade.Invalid] != 1 || r.Sent != 1 {
			t.Fatalf("sent %d, states %v", r.Sent, r.States)
		}
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
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
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
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(3)
		b.sync(engine.Options{})
		b.spec.Fields["price"] = mapping.FieldSpec{Columns: []string{"quantidade"}}
		b.spec.Fields["haverst"] = mapping.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
		r := b.sync(engine.Options{})
		if !r.Sweep || r.Sent != 0 {
			t.Errorf("sweep %t, sent %d: a changed mapping compares everything and sends nothing", r.Sweep, r.Sent)
		}
		for num := 1; num <= 3; num++ {
			if flags := b.expect(num, trade.Accepted, "").Flags; len(flags) != 0 {
				t.Errorf("row %d: %v", num, flags)
			}
		}
	})
}

func TestF022ADoubleKeyIsHeldUntilItIsCured(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
		b.contracts(3)
		b.exec(
			`INSERT INTO copia SELECT filial, num, 99, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM copia`
		r := b.sync(engine.Options{})
		if r.Sent != 2 || *r.InScope != 3 {
			t.Errorf("sent %d, in scope %d", r.Sent, *r.InScope)
		}
		b.expect(2, trade.Held, trade.CauseDuplicateKey)
		b.sync(engine.Options{Sweep: true})
		b.expect(2, trade.Held, trade.CauseDuplicateKey)
		b.exec(`DELETE FROM copia`)
		b.sync(engine.Options{Sweep: true})
		b.expect(2, trade.Accepted, "")
	})
}

func TestF021ARetypedContractIsHeldAndATwinGoesWithARemark(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET num = '0007' WHERE num = '0001'`) // renumbered
		b.sync(engine.Options{Sweep: true})
		b.expect(7, trade.Held, trade.CauseRetyped)
		if n := len(b.api.Created()); n != 2 {
			t.Fatalf("the platform has %d records", n)
		}
		b.exec(
			`INSERT INTO contrato SELECT filial, '0008', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true})
		if err != nil || reports[0].Sent != 1 {
			t.Fatalf("%+v, %v", reports, err)
		}
		if e := b.expect(8, trade.Accepted, ""); !e.Flags.Has(trade.Twin) {
			t.Errorf("flags %v, want twin", e.Flags)
		}
	})
}

func TestF100AnIdThatAnotherRowHasIsADoubt(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{Faults: faults(t, "again@2")})
		b.limits.MaxInFlight = 1
		b.contracts(4)
		r := b.sync(engine.Options{})
		if r.Stopped == nil || r.Stopped.Code != "answers" || r.States[trade.InDoubt] != 1 ||
			r.States[trade.Accepted] != 1 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
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

func TestAKeyThatIsNullIsCountedAndStopsNobody(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.exec(
			`INSERT INTO contrato VALUES ('01', NULL, 9, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`)
		r := b.sync(engine.Options{})
		if r.Unreadable != 1 || r.Sent != 2 || *r.InScope != 2 || len(r.Notes) != 1 {
			t.Errorf("unreadable %d, sent %d, in scope %d, notes %q", r.Unreadable, r.Sent, *r.InScope, r.Notes)
		}
	})
}

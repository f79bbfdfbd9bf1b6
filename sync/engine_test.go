package sync_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
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

func numberOf(t *testing.T, r sandbox.Record) int {
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
			err := b.ledger.Rows(t.Context(), trade.RowFilter{States: []trade.State{trade.Sending}},
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
	if r = b.sync(engine.Options{}); r.States[trade.Accepted] != 7 || r.States[trade.InDoubt] != 3 {
		t.Errorf("a sync by hand goes on with the rest: %v", r.States)
	}
}

func TestF126A401StopsEverythingAndConsumesNoAttempt(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"status=401@5-", "status=401,empty@5-"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{Faults: faults(t, spec)})
			b.contracts(40)
			r := b.sync(engine.Options{})
			if r.Stopped == nil || !r.Stopped.All {
				t.Fatalf("stopped %+v", r.Stopped)
			}
			if after := r.Sent - 4; after > b.limits.MaxInFlight+4 {
				t.Errorf("%d requests after the first refusal, want at most those in flight", after)
			}
			if r.States[trade.Accepted]+r.States[trade.Pending] != 40 {
				t.Errorf("states %v: a refused key must leave the rows pending", r.States)
			}
			for i := 1; i <= 40; i++ {
				if e := b.entry(i); e.State == trade.Pending && e.Attempts != 0 {
					t.Errorf("row %d: %d attempts consumed", i, e.Attempts)
				}
			}
			b.api.SetFaults()
			if r = b.sync(engine.Options{}); r.States[trade.Accepted] != 40 {
				t.Errorf("after the key was renewed: %v", r.States)
			}
		})
	}
}

// F163: a key that does not belong to the address is found before anything is sent.
func TestAWrongKeyIsFoundByThePreflightBeforeAnyPost(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{APIKey: "another-key"})
	b.contracts(3)
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "api_key" || r.Sent != 0 || r.States[trade.Pending] != 3 {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
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

func TestF123OneMissingWalletCostsOnePost(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.api.Forget(sandbox.Wallets, walletID)
		b.contracts(30)
		r := b.sync(engine.Options{})
		if r.Sent != 1 || r.States[trade.Rejected] != 1 || r.States[trade.Waiting] != 29 {
			t.Fatalf("sent %d, states %v", r.Sent, r.States)
		}
		waiting := b.expect(30, trade.Waiting, "message.wallet.not-found")
		if len(waiting.WaitingFor) != 1 || waiting.WaitingFor[0].Platform != "wallets" ||
			waiting.WaitingFor[0].ID != walletID {
			t.Errorf("waits for %+v", waiting.WaitingFor)
		}
		if r = b.sync(engine.Options{}); r.Sent != 0 {
			t.Errorf("before the interval is over, %d were sent", r.Sent)
		}
		b.clock.advance(16 * time.Minute)
		if r = b.sync(engine.Options{}); r.Sent != 1 {
			t.Errorf("after the interval %d were sent, want one", r.Sent)
		}
		b.api.Know(sandbox.Wallets, walletID)
		b.clock.advance(61 * time.Minute)
		if r = b.sync(engine.Options{}); r.States[trade.Accepted] != 30 {
			t.Errorf("when the wallet is there, all go in one run: %v", r.States)
		}
	})
}

func TestAReferenceThatComesLetsTheRowGoInTheSameRun(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.exec(`UPDATE contrato SET carteira = '7' WHERE num = '0002'`)
		b.sync(engine.Options{})
		e := b.expect(2, trade.Waiting, "ref:wallets")
		if len(e.WaitingFor) != 1 || e.WaitingFor[0].Code != "7" {
			t.Errorf("waits for %+v", e.WaitingFor)
		}
		b.contract(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0003'`)
		b.sync(engine.Options{})
		untouched := b.expect(3, trade.Invalid, "rule:payday").UpdatedAt
		b.clock.advance(time.Minute)
		b.exec(`INSERT INTO de_para VALUES ('carteira', '7', ?)`, walletID)
		r := b.sync(engine.Options{})
		if now := b.entry(3).UpdatedAt; !now.Equal(untouched) {
			t.Errorf("a row that was only looked at again changed its time from %s to %s", untouched, now)
		}
		if r.Sweep || r.Sent != 1 {
			t.Errorf("sweep %t, sent %d: the ERP did not touch the row, and it goes all the same", r.Sweep, r.Sent)
		}
		b.expect(2, trade.Accepted, "")
	})
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
		b.spec.Fields["price"] = engine.FieldSpec{Columns: []string{"quantidade"}}
		b.spec.Fields["haverst"] = engine.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
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

func TestASoftDeletedTwinOfAKeyIsItsPast(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
		b.contracts(2)
		b.exec(
			`INSERT INTO copia SELECT filial, num, 99, preco, produto, carteira, 'cancelado', data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		for _, order := range []string{
			`SELECT * FROM contrato UNION ALL SELECT * FROM copia`,
			`SELECT * FROM copia UNION ALL SELECT * FROM contrato`,
		} {
			b.spec.Query = order
			b.sync(engine.Options{Sweep: true})
			if e := b.expect(2, trade.Accepted, ""); len(e.Flags) != 0 {
				t.Errorf("flags %v", e.Flags)
			}
		}
		if n := len(b.api.Created()); n != 2 {
			t.Errorf("the platform has %d records", n)
		}
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

// F020: a withdrawn row that comes back is the same entry.
func TestARowThatNeverWentIsWithdrawnAfterTwoSweepsAndComesBack(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
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

func TestF026AnEmptySweepProvesNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(12)
		b.sync(engine.Options{})
		b.exec(`ALTER TABLE contrato RENAME TO guardado`)
		b.exec(`CREATE VIEW contrato AS SELECT * FROM guardado WHERE num <= '0005'`)
		r := b.sync(engine.Options{Sweep: true})
		if r.Stopped == nil || r.Stopped.Code != "empty_sweep" || r.InScope != nil {
			t.Fatalf("%+v", r)
		}
		if e := b.entry(12); len(e.Flags) != 0 || e.GoneSweeps != 0 {
			t.Errorf("flags %v, gone %d", e.Flags, e.GoneSweeps)
		}
	})
}

// I5: a row that commits late, with an old timestamp, is found.
func TestF001ALateRowWithAnOldTimestampIsFoundByTheSweep(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.sync(engine.Options{})
		b.contract(3)
		b.exec(`UPDATE contrato SET atualizado = '2026-01-01 00:00:00' WHERE num = '0003'`)
		b.contract(4)
		b.exec(`UPDATE contrato SET atualizado = NULL WHERE num = '0004'`)
		r := b.sync(engine.Options{})
		if r.Sweep || r.New != 1 {
			t.Errorf("sweep %t, new %d: only the row without a timestamp is in the window", r.Sweep, r.New)
		}
		b.clock.advance(24 * time.Hour)
		if r = b.sync(engine.Options{}); !r.Sweep || r.New != 1 || r.States[trade.Accepted] != 4 {
			t.Errorf("sweep %t, new %d, states %v: the daily sweep finds the rest", r.Sweep, r.New, r.States)
		}
	})
}

func TestF133AThrottledJobWaitsAndGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=1s@2")})
	b.limits.MaxInFlight = 1
	b.contracts(4)
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 4 || r.Stopped != nil {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

func TestF133APassThatWouldOnlyWaitEndsAndTheNextOneSaysWhen(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=20m@1-")})
	b.limits.MaxInFlight = 1
	b.contracts(2)
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "api_throttled" || r.Stopped.Until.IsZero() ||
		r.States[trade.Pending] != 2 {
		t.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.api.SetFaults()
	if again := b.sync(engine.Options{}); again.Stopped == nil || again.Stopped.Code != "api_throttled" ||
		again.Sent != 0 {
		t.Errorf("before the time has come: sent %d, stopped %+v", again.Sent, again.Stopped)
	}
	b.clock.advance(21 * time.Minute)
	if r = b.sync(engine.Options{}); r.States[trade.Accepted] != 2 {
		t.Errorf("afterwards: %v, stopped %+v", r.States, r.Stopped)
	}
}

func TestF133ManyShortRestsEndThePassToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "throttle=100s@1-")})
	b.observe = func(p engine.Progress) {
		if p.Phase == engine.Resting {
			b.clock.jump(2 * time.Minute)
		}
	}
	b.limits.MaxInFlight = 1
	b.contracts(1)
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "api_throttled" || r.Sent != 4 || r.States[trade.Pending] != 1 {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
}

func TestADryRunCountsADoubleKeyAsHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM contrato WHERE num = '0002'`
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true})
	if err != nil || reports[0].States[trade.Pending] != 2 || reports[0].States[trade.Held] != 1 {
		t.Errorf("%+v, %v", reports, err)
	}
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

// F075: a run that begins while another one runs is refused.
func TestOneJobRunsOnce(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	b := newBench(t, sandbox.Options{OnPost: func(n int) {
		if n == 1 {
			close(arrived)
			<-release
		}
	}})
	b.contracts(1)
	done := make(chan error)
	first, second := b.engine(), b.engine()
	go func() {
		_, err := first.Sync(t.Context(), nil, engine.Options{})
		done <- err
	}()
	<-arrived
	_, err := second.Sync(t.Context(), nil, engine.Options{})
	var leased *trade.LeasedError
	if !errors.As(err, &leased) {
		t.Errorf("a second run of a leased job gives %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.expect(1, trade.Accepted, "")
}

func TestADryRunWritesNothingAndSendsNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0003'`)
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if r := reports[0]; r.New != 3 || r.Sent != 0 || r.States[trade.Pending] != 2 || r.States[trade.Invalid] != 1 {
			t.Errorf("report %+v", r)
		}
		tallies, err := b.ledger.Recount(t.Context(), "contracts")
		if err != nil || len(tallies) != 0 || b.api.Requests() != 0 {
			t.Errorf("the ledger has %v (%v), the API got %d requests", tallies, err, b.api.Requests())
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

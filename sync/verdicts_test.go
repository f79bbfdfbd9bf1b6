package sync_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// What only a person moves is not sent again by a detour of the ERP: the key that stands twice for
// a while, the row that leaves and comes back.
func TestWhatOnlyAPersonMovesStaysThroughTheDetoursOfTheERP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault string
		state       trade.State
		cause       string
	}{
		{"refused in no form of the API", "status=422,empty@2", trade.Rejected, ""},
		{"it exists already", "duplicate@2", trade.Held, trade.CauseExists},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{Faults: faults(t, c.fault)})
			b.limits.MaxInFlight = 1
			b.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
			b.contracts(3)
			b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM copia`
			sweep := func(step string) {
				t.Helper()
				r := b.sync(engine.Options{Sweep: true})
				b.expect(2, c.state, c.cause)
				if n := len(b.api.Created()); n != 2 {
					t.Errorf("%s: the platform has %d records, stopped %+v", step, n, r.Stopped)
				}
			}
			sweep("first")
			b.exec(`INSERT INTO copia SELECT * FROM contrato WHERE num = '0002'`)
			sweep("doubled")
			b.exec(`DELETE FROM copia`)
			sweep("cured")
		})
	}
}

func TestARefusalInNoFormOfTheAPIIsNotForgottenWithTheRow(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=422,empty@1")})
	b.limits.MaxInFlight = 1
	b.contracts(3)
	b.sync(engine.Options{})
	b.exec(`DELETE FROM contrato WHERE num = '0001'`)
	for range 3 {
		b.sync(engine.Options{Sweep: true})
	}
	b.contract(1)
	b.sync(engine.Options{Sweep: true})
	b.expect(1, trade.Rejected, "")
}

// F156: after the doubt the newest version goes: A former owner's definite answer counts (I12);
// what the ERP did to the row while it was in doubt is then news.
func TestI12ALateRefusalOfARowThatChangedMeanwhileLetsTheNewVersionGo(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.exec(`UPDATE contrato SET pagamento = NULL`)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET pagamento = '2026-08-01', atualizado = '2026-03-11 08:00:00'`)
		attempt := b.abandon()
		b.exec(`UPDATE contrato SET preco = 99, atualizado = '2026-03-12 08:00:00' WHERE num = '0001'`)
		b.sync(engine.Options{Sweep: true})
		if e := b.expect(1, trade.InDoubt, "unknown"); fmt.Sprint(e.Flags) != "[changed]" {
			t.Errorf("flags %v", e.Flags)
		}
		attempt.Outcome, attempt.Status, attempt.Messages = trade.OutcomeNotCreated, 400,
			[]string{"message.price.invalid"}
		result, err := b.ledger.Commit(t.Context(), trade.Lease{Job: "contracts"},
			trade.Group{Settle: []trade.Settlement{{
				Attempt: attempt, State: trade.Rejected, Cause: "message.price.invalid", Counts: true,
				Error: &trade.EntryError{
					Kind: trade.APIError, Status: 400, Messages: attempt.Messages,
					Text: "refused",
				},
			}}})
		if err != nil || !result.Settled[attempt.ID] {
			t.Fatalf("%+v, %v", result, err)
		}
		b.sync(engine.Options{Sweep: true})
		if e := b.expect(1, trade.Accepted, ""); len(e.Flags) != 0 {
			t.Errorf("flags %v: what went is what the ERP has", e.Flags)
		}
		for _, r := range b.api.Created() {
			if fmt.Sprint(r.Fields["amount"]) == "1" && fmt.Sprint(r.Fields["price"]) != "99" {
				t.Errorf("price %v was sent", r.Fields["price"])
			}
		}
	})
}

// abandon leaves row 1 in sending, as a process that was killed: discovery sends it by an owner
// that is gone.
func (b *bench) abandon() trade.Attempt {
	b.t.Helper()
	var attempt trade.Attempt
	b.wrap = func(l Ledger) Ledger { return &dyingLedger{l, &attempt} }
	if _, err := b.engine().Sync(b.t.Context(), nil, engine.Options{}); err != nil {
		b.t.Fatal(err)
	}
	b.wrap = nil
	if attempt.ID == "" {
		b.t.Fatal("no intent was stored")
	}
	return attempt
}

// dyingLedger stores the first intent and says no more.
type dyingLedger struct {
	Ledger
	attempt *trade.Attempt
}

func (l *dyingLedger) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if len(group.Intents) == 0 {
		return l.Ledger.Commit(ctx, lease, group)
	}
	group.Intents = group.Intents[:1]
	if _, err := l.Ledger.Commit(ctx, lease, group); err != nil {
		return trade.GroupResult{}, err
	}
	*l.attempt = group.Intents[0].Attempt
	return trade.GroupResult{LeaseLost: true}, nil
}

func TestARecordOfAKindWithoutANameIsAskedForFor45DaysFromTheRefusal(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.exec(`UPDATE contrato SET pagamento = NULL`)
	b.sync(engine.Options{})
	b.clock.advance(60 * 24 * time.Hour)
	b.exec(`UPDATE contrato SET pagamento = '2026-08-01'`)
	b.api.SetFaults(faults(t, `status=404,type=application/json@1-,body={"messages":["message.season.not-found"]}`)...)
	b.sync(engine.Options{Sweep: true})
	if e := b.expect(1, trade.Rejected, "message.season.not-found"); e.NextAttemptAt.IsZero() {
		t.Error("it is never asked for again")
	}
	asked := 1
	for range 60 {
		b.clock.advance(25 * time.Hour)
		asked += b.sync(engine.Options{}).Sent
	}
	if asked < 45 || asked > 50 || !b.entry(1).NextAttemptAt.IsZero() {
		t.Errorf("it was asked for %d times, next at %s", asked, b.entry(1).NextAttemptAt)
	}
}

// An answer is stored whatever its text is: without that the row would be in doubt.
func TestARefusalOfManyWordsIsARefusal(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, `status=400,type=application/json@1,body={"messages":["`+strings.ToUpper(noise(8000))+
			` do Produtor"]}`)...)
		b.limits.MaxInFlight = 1
		b.contracts(2)
		r := b.sync(engine.Options{})
		if r.Stopped != nil || r.States[trade.Accepted] != 1 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		if e := b.expect(1, trade.Rejected, ""); e.Error == nil || len(e.Error.Messages) != 1 ||
			strings.Contains(e.Error.Text, "Produtor") {
			t.Errorf("error %.300v", e.Error)
		}
	})
}

// deafLedger fails to wake what waited for a record.
type deafLedger struct{ Ledger }

func (deafLedger) WakeBlocked(context.Context, trade.Lease, string, string) (int, error) {
	return 0, errors.New("the test failed the waking")
}

func TestIntentsThatAFaultOvertakesAreSettledAsNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.api.Forget(sandbox.Wallets, walletID)
	b.contracts(10)
	b.sync(engine.Options{})
	b.api.Know(sandbox.Wallets, walletID)
	b.clock.advance(16 * time.Minute)
	b.wrap = func(l Ledger) Ledger { return deafLedger{l} }
	if r := b.sync(engine.Options{}); r.Stopped == nil || r.States[trade.Sending] != 0 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.wrap = nil
	b.clock.advance(25 * time.Hour)
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 10 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

func TestAPauseOutlivesARunAndTheStopsOfOtherJobs(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		pause := func(b *bench, job string) {
			if err := b.ledger.SetJobStatus(context.Background(),
				trade.JobStatus{
					Job: job, State: trade.Paused,
					Stop: &trade.Stop{Code: "paused", Text: "the harvest"},
				}); err != nil {
				t.Error(err)
			}
		}
		expect := func(b *bench, job string) {
			t.Helper()
			if status, err := b.ledger.JobStatus(t.Context(), job); err != nil || status.State != trade.Paused ||
				status.Stop.Text != "the harvest" {
				t.Errorf("%+v, %v", status, err)
			}
		}
		var b *bench
		b = newBenchOn(t, db, sandbox.Options{OnPost: func(int) { pause(b, "contracts") }})
		b.contracts(1)
		b.sync(engine.Options{})
		expect(b, "contracts")

		b = newBenchOn(t, db, sandbox.Options{APIKey: "another-key"})
		b.contracts(1)
		second := contractsSpec()
		second.Name = "second"
		b.more = []engine.JobSpec{second}
		pause(b, "second")
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		if err != nil || len(reports) != 2 || reports[0].Stopped == nil || reports[1].Stopped == nil ||
			reports[1].Stopped.Code != "paused" {
			t.Errorf("%+v, %v", reports, err)
		}
		expect(b, "second")
	})
}

func TestADryRunTellsOnlyWhatWouldChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.exec(`UPDATE contrato SET pagamento = NULL WHERE num > '0001'`)
	b.sync(engine.Options{})
	b.exec(`UPDATE contrato SET pagamento = '2026-08-01' WHERE num = '0002'`)
	var told []string
	_, err := b.engine().Sync(t.Context(), nil,
		engine.Options{
			DryRun: true, Sweep: true,
			Planned: func(e trade.Entry) { told = append(told, e.Key+" "+string(e.State)) },
		})
	if err != nil || fmt.Sprint(told) != "[01|0002 pending]" {
		t.Errorf("%v, %v", told, err)
	}
}

// F078: a clock that stood in the future once does not keep the sweeps away until then.
func TestF078ASweepOfTheFutureCountsAsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.clock.jump(365 * 24 * time.Hour)
	b.sync(engine.Options{})
	b.clock.jump(-365 * 24 * time.Hour)
	if r := b.sync(engine.Options{}); !r.Sweep {
		t.Error("the last sweep is said to be a year ahead, and this run did not sweep")
	}
}

// A retyped contract is found across the jobs that send the same kind of record; equal rows of two
// jobs both go.
func TestF021TwinsAndRetypedRowsAcrossJobs(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		second := contractsSpec()
		second.Name, second.Query = "second", strings.Replace(second.Query, "FROM contrato", "FROM outra", 1)
		b.more = []engine.JobSpec{second}
		b.exec(`CREATE TABLE outra AS SELECT * FROM contrato WHERE false`)
		b.contracts(3)
		b.exec(
			`INSERT INTO outra SELECT filial, '0091', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0001'`)
		run := func() []trade.RunReport {
			t.Helper()
			reports, err := b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true})
			if err != nil || len(reports) != 2 {
				t.Fatalf("%+v, %v", reports, err)
			}
			b.adds(reports[0])
			b.adds(reports[1])
			return reports
		}
		if r := run()[1]; r.Sent != 1 || r.Flags[trade.Twin] != 1 {
			t.Errorf("%+v", r)
		}
		b.exec(
			`INSERT INTO outra SELECT filial, '0092', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		b.exec(`DELETE FROM contrato WHERE num = '0002'`)
		if r := run()[1]; r.Sent != 0 || r.States[trade.Held] != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// F156: the payload of a row in doubt is frozen: The platform id of a row that is in doubt decides
// nothing that the ERP does: flags come and go, and it is never sent.
func TestARowInDoubtIsOnlyFlagged(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = '2026-08-01', atualizado = '2026-03-11 08:00:00'`)
		b.abandon()
		flags := func(want string) {
			t.Helper()
			r := b.sync(engine.Options{Sweep: true})
			if e := b.expect(1, trade.InDoubt, "unknown"); fmt.Sprint(e.Flags) != want {
				t.Errorf("flags %v, want %s (%+v)", e.Flags, want, r.Stopped)
			}
		}
		flags("[]")
		b.exec(`UPDATE contrato SET preco = 99, atualizado = '2026-03-12 08:00:00' WHERE num = '0001'`)
		flags("[changed]")
		b.exec(`DELETE FROM contrato WHERE num = '0001'`)
		flags("[changed missing]")
		flags("[changed missing]")
		b.contract(1)
		b.exec(`UPDATE contrato SET pagamento = '2026-08-01', atualizado = '2026-03-13 08:00:00' WHERE num = '0001'`)
		flags("[]")
		if n := len(b.api.Created()); n != 2 {
			t.Errorf("the platform has %d records", n)
		}
	})
}

func TestARowThatIsBlockedFollowsItsERPRowToAnotherWallet(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		other := uuid.NewString()
		b.exec(`INSERT INTO de_para VALUES ('carteira', '2', ?)`, other)
		b.api.Forget(sandbox.Wallets, walletID)
		b.contracts(4)
		b.sync(engine.Options{})
		b.expect(1, trade.Rejected, "message.wallet.not-found")
		b.expect(2, trade.Waiting, "message.wallet.not-found")
		b.exec(`UPDATE contrato SET carteira = '2', atualizado = '2026-03-11 08:00:00' WHERE num = '0002'`)
		b.exec(`DELETE FROM contrato WHERE num = '0001'`) // the row that asks leaves
		b.sync(engine.Options{Sweep: true})
		b.expect(2, trade.Accepted, "")
		b.sync(engine.Options{Sweep: true})
		b.expect(1, trade.Withdrawn, "")
		b.clock.advance(16 * time.Minute)
		if r := b.sync(engine.Options{}); r.Sent != 1 || r.States[trade.Rejected] != 1 || r.States[trade.Waiting] != 1 {
			t.Errorf("another row asks: sent %d, states %v", r.Sent, r.States)
		}
		b.api.Know(sandbox.Wallets, walletID)
		b.clock.advance(61 * time.Minute)
		if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 3 {
			t.Errorf("states %v", r.States)
		}
	})
}

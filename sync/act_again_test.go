package sync_test

import (
	"context"
	"fmt"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// do plans and does an act on rows of the contracts, and gives what became of the first of them.
func (b *bench) do(plan func(*acts.Acts) (acts.RowPlan, error)) acts.RowStep {
	b.t.Helper()
	people := b.acts()
	p, err := plan(people)
	if err == nil {
		p, err = people.Do(b.t.Context(), p, maria)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return p.Steps[0]
}

// actOn does an act that may be for several rows on one.
func (b *bench) actOn(job, key string,
	act func(*acts.Acts, context.Context, string, []string) (acts.RowPlan, error),
) acts.RowStep {
	b.t.Helper()
	return b.do(func(a *acts.Acts) (acts.RowPlan, error) { return act(a, b.t.Context(), job, []string{key}) })
}

func (b *bench) retryRow(job, key string) acts.RowStep {
	b.t.Helper()
	return b.do(func(a *acts.Acts) (acts.RowPlan, error) {
		return a.Retry(b.t.Context(), job, []string{key}, true)
	})
}

func (b *bench) adoptRow(job, key string, adoption acts.Adoption) acts.RowStep {
	b.t.Helper()
	return b.do(func(a *acts.Acts) (acts.RowPlan, error) { return a.Adopt(b.t.Context(), job, key, adoption) })
}

func (b *bench) retry(num int) acts.RowStep { return b.retryRow("contracts", key(num)) }
func (b *bench) dismiss(num int) acts.RowStep {
	return b.actOn("contracts", key(num), (*acts.Acts).Dismiss)
}

func (b *bench) reopen(num int) acts.RowStep {
	return b.actOn("contracts", key(num), (*acts.Acts).Reopen)
}

func (b *bench) resend(num int) acts.RowStep {
	b.t.Helper()
	return b.do(func(a *acts.Acts) (acts.RowPlan, error) {
		return a.Resend(b.t.Context(), "contracts", key(num), true)
	})
}

func (b *bench) adopt(num int, id string) acts.RowStep {
	b.t.Helper()
	return b.adoptRow("contracts", key(num), acts.Adoption{ID: id})
}

// done checks that an act was done, or why not.
func (b *bench) done(step acts.RowStep, want acts.Refusal) {
	b.t.Helper()
	if step.Refused != want || step.Done != (want == acts.NotRefused) {
		b.t.Errorf("%s: refused %q, done %v; want %q", step.Key, step.Refused, step.Done, want)
	}
}

func TestF122ARetryEndsTheSlowWaitForARecordOfThePlatform(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.api.Forget(sandbox.Wallets, walletID)
		b.contracts(3)
		b.sync(engine.Options{})
		for range 60 { // until nobody asks any more
			b.clock.advance(25 * time.Hour)
			b.sync(engine.Options{})
		}
		if r := b.sync(engine.Options{}); r.Sent != 0 || !b.entry(2).NextAttemptAt.IsZero() {
			t.Fatalf("sent %d, next at %s", r.Sent, b.entry(2).NextAttemptAt)
		}
		// and the platform lacks it still: asked once, and slowly again from the start
		b.done(b.retry(2), acts.NotRefused)
		b.wants(b.sync(engine.Options{}), "sent 1")
		if e := b.entry(2); e.State != trade.Rejected || e.Generation != 1 ||
			e.NextAttemptAt.After(b.clock.Now().Add(16*time.Minute)) || e.NextAttemptAt.IsZero() {
			t.Errorf("%s, generation %d, next at %s", e.State, e.Generation, e.NextAttemptAt)
		}
		b.api.Know(sandbox.Wallets, walletID)
		b.done(b.retry(1), acts.NotRefused)
		b.wants(b.sync(engine.Options{}), "accepted 2")
		b.clock.advance(16 * time.Minute)
		b.wants(b.sync(engine.Options{}), "accepted 3")
		b.done(b.retry(1), acts.IsAccepted)
		b.done(b.retry(77), acts.UnknownRow)
	})
}

func TestARetryMovesWhatOnlyAPersonMovesAndNothingThatIsInDoubt(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.api.SetFaults(faults(t, "status=422,empty@1", "duplicate@2", "lost-after@3", "refused@4")...)
		b.contracts(6)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0005'`)
		b.exec(`UPDATE contrato SET carteira = '9' WHERE num = '0006'`)
		b.sync(engine.Options{})
		b.expect(1, trade.Rejected, "")
		b.expect(2, trade.Held, trade.CauseExists)
		b.done(b.retry(3), acts.IsInDoubt)
		b.done(b.retry(5), acts.IsInvalid)
		b.done(b.retry(6), acts.WaitsFor)
		if b.entry(4).NextAttemptAt.IsZero() {
			t.Error("row 4 is not waiting for its time")
		}
		for _, n := range []int{1, 2, 4} {
			b.done(b.retry(n), acts.NotRefused)
		}
		b.done(b.retry(4), acts.GoesAnyway)
		b.wants(b.sync(engine.Options{}), "accepted 3, sent 3")
		for _, n := range []int{1, 2, 4} {
			if e := b.entry(n); e.Generation != 1 {
				t.Errorf("row %d is of generation %d", n, e.Generation)
			}
		}
	})
}

// F021: a person who says that a re-typed contract is another one lets exactly that content go.
func TestF021ADeclaredContractGoesAlthoughItsContentWentUnderAKeyThatIsGone(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET num = '0009', atualizado = '2026-03-13 08:00:00' WHERE num = '0001'`)
		b.sync(engine.Options{})
		b.expect(9, trade.Held, trade.CauseRetyped)
		b.done(b.retry(9), acts.NotRefused)
		b.wants(b.run(engine.Options{}), "sent 1")
		if e := b.expect(9, trade.Accepted, ""); e.Generation != 1 || !e.Flags.Has(trade.Twin) {
			t.Errorf("generation %d, flags %v", e.Generation, e.Flags)
		}
	})
}

func TestADismissalIsUndoneToWhereTheRowStood(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.api.SetFaults(faults(t, "lost-before,reset@1", "duplicate@2", "status=422,empty@3")...)
		b.contracts(6)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0004'`)
		b.exec(`UPDATE contrato SET carteira = '9' WHERE num = '0005'`)
		b.sync(engine.Options{})
		before := map[int]trade.Entry{}
		for n := 1; n <= 5; n++ {
			before[n] = b.entry(n)
			b.done(b.dismiss(n), acts.NotRefused)
			b.done(b.dismiss(n), acts.IsDismissed)
			if e := b.expect(n, trade.Dismissed, before[n].Cause); e.Dismissal == nil ||
				e.Dismissal.From != before[n].State {
				t.Errorf("row %d: %+v", n, e.Dismissal)
			}
		}
		b.done(b.dismiss(6), acts.IsAccepted)
		b.exec(`INSERT INTO de_para VALUES ('carteira', '9', ?)`, walletID)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, dismissed 5")
		for n := 1; n <= 5; n++ {
			b.done(b.reopen(n), acts.NotRefused)
			b.done(b.reopen(n), acts.NotDismissed)
			if e := b.expect(n, before[n].State, before[n].Cause); e.Dismissal != nil {
				t.Errorf("row %d: %+v", n, e.Dismissal)
			}
		}
		// What was cured meanwhile goes with the next run; nothing else does.
		b.wants(b.sync(engine.Options{}), "sent 1")
		b.expect(5, trade.Accepted, "")
		b.expect(1, trade.InDoubt, trade.CauseUnknown)
	})
}

// F157: whoever decides second is told that it is decided, however many they are.
func TestF157OfAHundredPeopleWhoDecideOneDecides(t *testing.T) {
	onEither(t, failing("lost-before,reset@1"), func(t *testing.T, b *bench) {
		b.contracts(1)
		b.sync(engine.Options{})
		b.clock.advance(16 * time.Minute)
		people := b.acts()
		again, err := people.Resend(t.Context(), "contracts", key(1), true)
		if err != nil || !again.Possible() {
			t.Fatalf("%+v, %v", again, err)
		}
		out := must.Get(people.Dismiss(t.Context(), "contracts", []string{key(1)}))(t)
		var won atomic.Int32
		var wg gosync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				plan := again
				if i%2 > 0 {
					plan = out
				}
				who := maria
				who.Name = fmt.Sprintf("person %d", i)
				got, err := people.Do(t.Context(), plan, who)
				switch {
				case err != nil:
					t.Error(err)
				case got.Steps[0].Done:
					won.Add(1)
				case got.Steps[0].Refused != acts.Moved:
					t.Errorf("refused %q", got.Steps[0].Refused)
				}
			})
		}
		wg.Wait()
		audit, err := b.ledger.Audit(t.Context(), 0)
		if won.Load() != 1 || len(audit) != 1 || err != nil {
			t.Errorf("%d decided, the audit has %d records, %v", won.Load(), len(audit), err)
		}
		if p, err := b.ledger.VerifyAudit(t.Context()); p.Broken != 0 || err != nil {
			t.Errorf("record %d of the audit is broken, %v", p.Broken, err)
		}
	})
}

// F160: what may double is never offered for many rows at once.
func TestF160NothingThatMayDoubleIsSelectedByAFilter(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight, b.limits.StopAfterUnknown = 1, 0
		b.api.SetFaults(faults(t, "lost-after@1-3", "malformed@4-5", "duplicate@6", "status=422,empty@7")...)
		b.contracts(8)
		b.sync(engine.Options{})
		people := b.acts()
		for _, act := range []string{"resend", "adopt"} {
			if len(acts.BulkStates(act)) > 0 {
				t.Errorf("%s is offered for many rows", act)
			}
		}
		for act, want := range map[string]string{
			"retry":   "[01|0004 01|0005]",
			"dismiss": "[01|0004 01|0005 01|0006 01|0007]", "reopen": "[]",
		} {
			keys, weak, err := people.Select(t.Context(), act, "contracts", nil, nil)
			if err != nil || fmt.Sprint(keys) != want || (weak == 1) != (act == "retry") {
				t.Errorf("%s: %v, %v; want %s", act, keys, err, want)
			}
		}
		if keys, _, err := people.Select(t.Context(), "dismiss", "contracts", nil,
			[]string{trade.CauseExists}); err != nil || fmt.Sprint(keys) != "[01|0006]" {
			t.Errorf("%v, %v", keys, err)
		}
	})
}

// A row that was held as another one's double goes only after a declaration, and the plan names the
// record that it may double: its row, its id, and when it was sent.
func TestARetryOfAHeldRowNamesTheRecordThatItMayDouble(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET num = '0009' WHERE num = '0003'`)
		b.sync(engine.Options{Sweep: true})
		b.expect(9, trade.Held, trade.CauseRetyped)
		undeclared := b.do(func(a *acts.Acts) (acts.RowPlan, error) {
			return a.Retry(t.Context(), "contracts", []string{key(9)}, false)
		})
		b.done(undeclared, acts.NotChecked)
		old, c := b.entry(3), undeclared.Counterpart
		if !undeclared.MayDouble || c == nil || c.Key != key(3) || c.ID != old.RemoteID || c.SentAt.IsZero() {
			t.Errorf("may double %v, counterpart %+v; want that of %s", undeclared.MayDouble, c, key(3))
		}
		b.done(b.retry(9), acts.NotRefused)
		b.expect(9, trade.Pending, "")
	})
}

// A row that the platform says exists names the row that was sent with the same content.
func TestARowThatExistsNamesTheRowThatWasSentWithItsContent(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.sync(engine.Options{})
	b.duplicate("0001", "0002")
	b.api.SetFaults(faults(t, "status=409")...)
	b.sync(engine.Options{Sweep: true})
	b.expect(2, trade.Held, trade.CauseExists)
	step := b.dismiss(2)
	b.done(step, acts.NotRefused)
	if c := step.Counterpart; c == nil || c.Key != key(1) || c.ID != b.entry(1).RemoteID {
		t.Errorf("counterpart %+v", c)
	}
}

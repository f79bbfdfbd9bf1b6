package sync_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// F158, I14: a second sending is refused within the quarantine, whatever the wall clock says, and
// whatever another boot has seen.
func TestF158ASecondSendingWithinTheQuarantineIsRefusedWithTheTimeLeft(t *testing.T) {
	onEither(t, failing("lost-before,reset@1"), func(t *testing.T, b *bench) {
		b.contracts(1)
		b.sync(engine.Options{})
		b.clock.jump(400 * 24 * time.Hour)
		step := b.resend(1)
		b.done(step, acts.InQuarantine)
		if step.Remaining <= 14*time.Minute || step.Remaining > 15*time.Minute || len(step.Attempts) != 1 ||
			step.Attempts[0].Evidence == nil {
			t.Errorf("%s left, %d attempts", step.Remaining, len(step.Attempts))
		}
		b.clock.jump(-800 * 24 * time.Hour)
		b.clock.advance(14 * time.Minute)
		b.done(b.resend(1), acts.InQuarantine)
		b.clock.advance(2 * time.Minute)
		people := b.acts()
		people.Boot = "after a restart of the machine"
		if plan, err := people.Resend(t.Context(), "contracts", key(1), true); err != nil ||
			plan.Steps[0].Refused != acts.InQuarantine {
			t.Errorf("a boot that has seen nothing believes that the time is over: %+v, %v", plan, err)
		}
		must.Do(t, people.Watch(t.Context(), "contracts"))
		b.clock.advance(16 * time.Minute)
		if plan, err := people.Resend(t.Context(), "contracts", key(1), true); err != nil ||
			plan.Steps[0].Refused != acts.NotRefused {
			t.Errorf("after the quarantine of its own: %+v, %v", plan, err)
		}
		if plan, err := b.acts().Resend(t.Context(), "contracts", key(1), false); err != nil ||
			plan.Steps[0].Refused != acts.NotChecked {
			t.Errorf("nobody said that the platform was checked: %+v, %v", plan, err)
		}
		b.done(b.resend(1), acts.NotRefused)
		e := b.expect(1, trade.Pending, "")
		audit, err := b.ledger.Audit(t.Context(), 0)
		if err != nil || e.Generation != 2 || !e.Flags.Has(trade.Forced) || len(audit) != 1 ||
			e.ResentBy != audit[0].Seq || audit[0].Act != "resend" {
			t.Errorf("generation %d by %d, flags %v, audit %+v, %v", e.Generation, e.ResentBy, e.Flags, audit, err)
		}
		b.sync(engine.Options{})
		b.expect(1, trade.Accepted, "")
	})
}

// The floor holds however short the quarantine is configured.
func TestI14TheQuarantineIsNeverShorterThanTheTimeOutsInvolved(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-before,reset@1")})
	b.limits.Quarantine = time.Second
	b.contracts(1)
	b.sync(engine.Options{})
	b.clock.advance(2*b.limits.Timeout + 39*time.Second)
	b.done(b.resend(1), acts.InQuarantine)
	b.clock.advance(2 * time.Second)
	b.done(b.resend(1), acts.NotRefused)
}

func TestASecondSendingTakesTheNewestRowAndIsRefusedWhereThatCannotGo(t *testing.T) {
	onEither(t, failing("lost-before,reset@1"), func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		b.clock.advance(16 * time.Minute)
		num := 1
		if b.entry(1).State != trade.InDoubt {
			num = 2
		}
		is := func(set string, want acts.Refusal) acts.RowStep {
			t.Helper()
			b.exec(`UPDATE contrato SET `+set+` WHERE num = ?`, key(num)[3:])
			plan, err := b.acts().Resend(t.Context(), "contracts", key(num), true)
			if err != nil || plan.Steps[0].Refused != want {
				t.Errorf("%s: %q, %v; want %q", set, plan.Steps[0].Refused, err, want)
			}
			return plan.Steps[0]
		}
		if step := is(`pagamento = NULL`, acts.IsInvalid); len(step.Problems) != 1 ||
			step.Problems[0].Field != "payday" {
			t.Errorf("problems %+v", step.Problems)
		}
		if step := is(`pagamento = '2026-07-01', carteira = '9'`, acts.WaitsFor); len(step.WaitingFor) != 1 {
			t.Errorf("waits for %+v", step.WaitingFor)
		}
		is(`carteira = '1', situacao = 'cancelado'`, acts.CancelledNow)
		is(`situacao = 'rascunho'`, acts.GoneFromERP)
		is(`situacao = 'aprovado', preco = 99`, acts.NotRefused)
		b.done(b.resend(num), acts.NotRefused)
		b.sync(engine.Options{})
		e := b.expect(num, trade.Accepted, "")
		if !strings.Contains(string(e.Payload), `"price":99`) || e.Generation != 2 || e.Flags.Has(trade.Changed) {
			t.Errorf("payload %s, flags %v", e.Payload, e.Flags)
		}
		b.done(b.resend(num), acts.IsAccepted)
		b.done(b.resend(77), acts.UnknownRow)
	})
}

// F156: what the ERP does to a row that is in doubt waits for the decision, and the payload that
// may be on the platform is kept.
func TestF156AChangeDuringADoubtWaitsForTheDecision(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight, b.limits.StopAfterUnknown = 1, 0
		b.api.SetFaults(faults(t, "lost-after@1", "lost-before,reset@2-3")...)
		b.contracts(3)
		b.sync(engine.Options{})
		b.api.SetFaults()
		b.exec(`UPDATE contrato SET preco = 77, atualizado = '2026-03-12 08:00:00'`)
		b.sync(engine.Options{})
		for n := 1; n <= 3; n++ {
			if e := b.expect(n, trade.InDoubt, trade.CauseUnknown); !strings.Contains(string(e.Payload),
				`"price":120.5`) || !e.Flags.Has(trade.Changed) {
				t.Errorf("row %d: payload %s, flags %v", n, e.Payload, e.Flags)
			}
		}
		b.done(b.adopt(1, b.api.Created()[0].ID), acts.NotRefused) // compared with what was sent
		b.flags(1, "[changed]")
		b.clock.advance(16 * time.Minute)
		b.done(b.resend(2), acts.NotRefused)
		b.done(b.dismiss(3), acts.NotRefused)
		b.done(b.reopen(3), acts.NotRefused)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 1")
		if e := b.expect(2, trade.Accepted, ""); !strings.Contains(string(e.Payload), `"price":77`) ||
			e.Flags.Has(trade.Changed) {
			t.Errorf("payload %s, flags %v", e.Payload, e.Flags)
		}
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
		b.done(b.resend(3), acts.NotRefused) // its quarantine was over before it was taken out
	})
}

// F124: the platform does not know a contract of which we hold the id: the children ask slowly, at once
// when a person says so, and go when it is known.
func TestF124AChildOfAContractThatThePlatformDoesNotKnowAsksSlowly(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contract(1)
		b.share("A", 1, 300)
		b.share("B", 1, 400)
		b.api.SetFaults(faults(t,
			`traceability:status=404,type=application/json@1,body={"messages":["message.order-commitment.not-found"]}`)...)
		b.wants(b.pass()["traceability"], "sent 1")
		e := b.row("traceability", "A", trade.Rejected, "message.order-commitment.not-found")
		if left := e.NextAttemptAt.Sub(b.clock.Now()); left <= 14*time.Minute || left > 15*time.Minute {
			t.Errorf("asked again in %s", left)
		}
		b.row("traceability", "B", trade.Waiting, "message.order-commitment.not-found")
		b.wants(b.pass()["traceability"], "sent 0")
		b.done(b.retryRow("traceability", "B"), acts.NotRefused)
		b.wants(b.pass()["traceability"], "sent 1, accepted 1")
		b.clock.advance(20 * time.Minute)
		b.wants(b.pass()["traceability"], "sent 1, accepted 2")
	})
}

// F120: the platform says of what was sent again that it exists: the earlier sending very probably
// made it, and a person gives its id.
func TestF120ADuplicateAfterASecondSendingPointsAtTheFirst(t *testing.T) {
	onEither(t, failing("lost-after@1", "duplicate@2"), func(t *testing.T, b *bench) {
		b.contracts(1)
		b.sync(engine.Options{})
		b.clock.advance(16 * time.Minute)
		b.done(b.resend(1), acts.NotRefused)
		b.sync(engine.Options{})
		e := b.expect(1, trade.Held, trade.CauseExists)
		if e.Generation != 2 || !e.Flags.Has(trade.Contradicted) ||
			!strings.Contains(e.Error.Text(), "an earlier sending of this row is in doubt and very probably created it") {
			t.Errorf("generation %d, flags %v, error %+v", e.Generation, e.Flags, e.Error)
		}
		b.done(b.retry(1), acts.DoubtBefore)
		b.clock.advance(16 * time.Minute)
		if plan, err := b.acts().Resend(t.Context(), "contracts", key(1), true); err != nil ||
			plan.Steps[0].Refused != acts.NotRefused {
			t.Errorf("a person may insist: %+v, %v", plan, err)
		}
		b.done(b.adopt(1, b.api.Created()[0].ID), acts.NotRefused)
		if e := b.expect(1, trade.Accepted, ""); e.RemoteID != b.api.Created()[0].ID {
			t.Errorf("id %s", e.RemoteID)
		}
	})
}

// F168, F094: the answer comes after a person took the row out: the id is kept, the row is
// accepted, and everybody is told.
func TestF168ALateAnswerAfterADismissalIsToldInTheReportAndTheAudit(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		var b *bench
		b = newBenchOn(t, db, sandbox.Options{OnPost: func(int) {
			// Another process takes the job over while the request is in flight, and a person
			// decides.
			if err := b.steal(); err != nil {
				t.Error(err)
			}
			people := b.acts()
			plan, err := people.Dismiss(t.Context(), "contracts", []string{key(1)})
			if err == nil {
				plan, err = people.Do(t.Context(), plan, maria)
			}
			if err != nil || !plan.Steps[0].Done {
				t.Errorf("%+v, %v", plan, err)
			}
		}})
		b.contracts(1)
		reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{}))(t)
		e := b.expect(1, trade.Accepted, "")
		r := reports[0]
		if e.RemoteID != b.api.Created()[0].ID || !e.Flags.Has(trade.Contradicted) || len(r.Alarms) != 1 ||
			r.Alarms[0].RemoteID != e.RemoteID || r.Alarms[0].Kind != trade.LateAfterDismissal || !r.NeedsPerson() {
			t.Errorf("entry %+v, alarms %+v", e, r.Alarms)
		}
		audit, err := b.ledger.Audit(t.Context(), 0)
		if err != nil || len(audit) != 2 || audit[0].Who != "safrasync" || audit[0].Act != "late answer" {
			t.Errorf("audit %+v, %v", audit, err)
		}
		if got := b.acknowledge(1); got[0] != acts.NotRefused || b.entry(1).Flags.Has(trade.Contradicted) {
			t.Errorf("refused %q, flags %v", got, b.entry(1).Flags)
		}
	})
}

// F168: who says that it is not there when it is doubles it once for each order, and the audit says
// who: never more, and never by itself.
func TestF168AWrongAnswerDoublesOnceForEachOrderAndNamesWhoGaveIt(t *testing.T) {
	onEither(t, failing("lost-after@1-3"), func(t *testing.T, b *bench) {
		b.contracts(1)
		for order := 1; order <= 3; order++ {
			for range 3 {
				must.Get(b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true}))(t)
			}
			e := b.expect(1, trade.InDoubt, trade.CauseUnknown)
			if n := len(b.api.Created()); n != order || e.Generation != order {
				t.Fatalf("%d records after %d orders, generation %d", n, order, e.Generation)
			}
			b.clock.advance(16 * time.Minute)
			b.done(b.resend(1), acts.NotRefused)
		}
		audit, err := b.ledger.Audit(t.Context(), 0)
		if err != nil || len(audit) != 3 || audit[0].Who != "maria" || audit[0].Seq != b.entry(1).ResentBy {
			t.Errorf("audit %+v, %v", audit, err)
		}
	})
}

// steal ends the lease of the running process and recovers what it left in flight, as another
// process would.
func (b *bench) steal() error {
	ctx := b.t.Context()
	b.byHand(`UPDATE job_lease SET expires = 1, instance = ''`)
	owner := state.Self()
	owner.Instance = uuid.NewString()
	lease, err := b.ledger.AcquireLease(ctx, "contracts", owner)
	if err != nil {
		return err
	}
	if _, err := b.ledger.Recover(ctx, lease, b.clock.Now()); err != nil {
		return err
	}
	return b.ledger.ReleaseLease(ctx, lease)
}

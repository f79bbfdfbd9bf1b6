package sync_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
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
			sweep := func() {
				t.Helper()
				b.sync(engine.Options{Sweep: true})
				b.expect(2, c.state, c.cause)
				b.records("order_commitments", 2)
			}
			sweep()
			b.exec(`INSERT INTO copia SELECT * FROM contrato WHERE num = '0002'`)
			sweep() // doubled
			b.exec(`DELETE FROM copia`)
			sweep() // cured
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
	onEither(t, plain, func(t *testing.T, b *bench) {
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
				Kind: trade.APIError,
			}}})
		if err != nil || !result.Settled[attempt.ID] {
			t.Fatalf("%+v, %v", result, err)
		}
		b.sync(engine.Options{Sweep: true})
		b.flags(1, "[]")
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
	must.Get(b.engine().Sync(b.t.Context(), nil, engine.Options{}))(b.t)
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

// F156: the payload of a row in doubt is frozen: The platform id of a row that is in doubt decides
// nothing that the ERP does: flags come and go, and it is never sent.
func TestARowInDoubtIsOnlyFlagged(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
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
		b.records("order_commitments", 2)
	})
}

package sync_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// endedElsewhere is the ledger of a long pass: what blocked its rows when it began was ended by
// another process since.
type endedElsewhere struct {
	Ledger
	looks *int
}

func (l endedElsewhere) Blocks(ctx context.Context) ([]trade.Block, error) {
	*l.looks++
	if *l.looks > 1 {
		return l.Ledger.Blocks(ctx)
	}
	return []trade.Block{{
		Kind: "wallets", ID: walletID, Message: "message.wallet.not-found",
		FirstAt: time.Now().Add(-50 * 24 * time.Hour), Tries: 48,
	}}, nil
}

// A record that nobody asks about any more, which a row of another process has found, keeps no row
// of a pass that knows it as missing: nothing would wake that row again.
func TestABlockThatAnotherProcessEndedKeepsNoRow(t *testing.T) {
	b := newBenchOn(t, databases[0], sandbox.Options{})
	b.contract(1)
	b.wrap = func(l Ledger) Ledger { return endedElsewhere{l, new(int)} }
	b.sync(engine.Options{})
	b.expect(1, trade.Accepted, "")
}

func TestARowThatIsBlockedFollowsItsERPRowToAnotherWallet(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
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
		b.wants(b.sync(engine.Options{}), "sent 1, rejected 1, waiting 1")
		b.api.Know(sandbox.Wallets, walletID)
		b.clock.advance(61 * time.Minute)
		b.wants(b.sync(engine.Options{}), "accepted 3")
	})
}

func TestIntentsThatAFaultOvertakesAreSettledAsNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.api.Forget(sandbox.Wallets, walletID)
	b.contracts(10)
	b.sync(engine.Options{})
	b.api.Know(sandbox.Wallets, walletID)
	b.clock.advance(16 * time.Minute)
	b.breaker.failing("WakeBlocked", errBroken)
	if r := b.sync(engine.Options{}); r.Stopped == nil || r.States[trade.Sending] != 0 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.breaker.mend()
	b.clock.advance(25 * time.Hour)
	b.wants(b.sync(engine.Options{}), "accepted 10")
}

func TestF123OneMissingWalletCostsOnePost(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.api.Forget(sandbox.Wallets, walletID)
		b.contracts(30)
		b.wants(b.sync(engine.Options{}), "sent 1, rejected 1, waiting 29")
		waiting := b.expect(30, trade.Waiting, "message.wallet.not-found")
		if len(waiting.WaitingFor) != 1 || waiting.WaitingFor[0].Platform != "wallets" ||
			waiting.WaitingFor[0].ID != walletID {
			t.Errorf("waits for %+v", waiting.WaitingFor)
		}
		b.wants(b.sync(engine.Options{}), "sent 0")
		b.clock.advance(16 * time.Minute)
		b.wants(b.sync(engine.Options{}), "sent 1")
		b.api.Know(sandbox.Wallets, walletID)
		b.clock.advance(61 * time.Minute)
		b.wants(b.sync(engine.Options{}), "accepted 30")
	})
}

func TestAReferenceThatComesLetsTheRowGoInTheSameRun(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
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

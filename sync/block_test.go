package sync_test

import (
	"context"
	"testing"
	"time"

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
	if *l.looks++; *l.looks > 1 {
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

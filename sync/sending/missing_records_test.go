package sending

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Of contracts that rows of ours made there are as many as rows; nothing is kept of those that are
// there, and what was said to be missing is known all the same.
func TestNothingIsKeptOfContractsThatAreThere(t *testing.T) {
	t.Parallel()
	lost := run.Need{Kind: outcome.OrderCommitments, ID: "lost"}
	l := newMissingRecords([]trade.Block{{Kind: lost.Kind, ID: lost.ID}})
	wallet := run.Need{Kind: "wallets", ID: "w"}
	for i := range 1000 {
		l.confirm([]run.Need{{Kind: outcome.OrderCommitments, ID: fmt.Sprint(i)}, wallet})
	}
	if len(l.There) != 1 || !l.Known(wallet) || !l.Known(run.Need{Kind: outcome.OrderCommitments, ID: "7"}) ||
		l.Known(lost) {
		t.Errorf("%d records are kept; wallet %v, contract %v, lost %v", len(l.There), l.Known(wallet),
			l.Known(run.Need{Kind: outcome.OrderCommitments, ID: "7"}), l.Known(lost))
	}
	if ended := l.confirm([]run.Need{lost}); len(ended) != 1 || !l.Known(lost) {
		t.Errorf("a contract that is there again ends %d blocks, known %v", len(ended), l.Known(lost))
	}
	if l.reportMissing(lost, "message.contract.not-found", time.Now()); l.Known(lost) {
		t.Error("a contract that is missing again is known")
	}
}

package sync

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Of contracts that rows of ours made there are as many as rows; nothing is kept of those that are there, and what was said to be missing is known all the same.
func TestNothingIsKeptOfContractsThatAreThere(t *testing.T) {
	t.Parallel()
	lost := need{orderCommitments, "lost"}
	l := newBlockList([]trade.Block{{Kind: lost.kind, ID: lost.id}})
	wallet := need{"wallets", "w"}
	for i := range 1000 {
		l.confirm([]need{{orderCommitments, fmt.Sprint(i)}, wallet})
	}
	if len(l.there) != 1 || !l.known(wallet) || !l.known(need{orderCommitments, "7"}) || l.known(lost) {
		t.Errorf("%d records are kept; wallet %v, contract %v, lost %v", len(l.there), l.known(wallet), l.known(need{orderCommitments, "7"}), l.known(lost))
	}
	if ended := l.confirm([]need{lost}); len(ended) != 1 || !l.known(lost) {
		t.Errorf("a contract that is there again ends %d blocks, known %v", len(ended), l.known(lost))
	}
	if l.miss(lost, "message.contract.not-found", time.Now()); l.known(lost) {
		t.Error("a contract that is missing again is known")
	}
}

package office

import (
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// The season of a large ledger is counted in the background, once for all who ask; it is nil until then,
// and afterwards it is the one that was counted, with its time. That of a small one is there at once.
func TestALargeSeasonIsCountedInTheBackground(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	of := open()
	small := must.Get(of.Season(t.Context()))(t)
	if small == nil || small.Seasons[0].Ages[trade.FixReferences.Department()][0].Rows != 3 {
		t.Fatalf("of a small ledger: %+v", small)
	}

	at := open()
	at.waitFor, at.patience = 0, 0
	at.seasonCount = &work[*Season]{done: make(chan struct{})} // one that has not ended
	for range 2 {
		if got := must.Get(at.Season(t.Context()))(t); got != nil {
			t.Errorf("before the first count has ended: %+v", got)
		}
	}
	at.seasonCount = nil
	_ = must.Get(at.Season(t.Context()))(t)
	at.working.Wait()
	counted := must.Get(at.Season(t.Context()))(t)
	if counted == nil || counted != at.season || counted.At.IsZero() || counted.took == 0 {
		t.Errorf("after it: %+v, want %+v", counted, at.season)
	}
}

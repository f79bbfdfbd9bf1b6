package metrics

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// A run that is open, or was killed, takes nothing away from what is known of those before it.
func TestTheLastEndIsThatOfTheLastRunThatEnded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 8, 10, 12, 0, 0, 0, time.UTC)
	runs := []trade.RunReport{
		{StartedAt: at.Add(time.Hour)},
		{StartedAt: at, EndedAt: trade.End{Time: at.Add(time.Minute)}},
		{StartedAt: at.Add(-time.Hour), EndedAt: trade.End{Time: at}},
	}
	if got := lastEnd(runs); !got.Equal(at.Add(time.Minute)) {
		t.Errorf("the last run ended at %s", got)
	}
	if got := lastEnd(runs[:1]); !got.IsZero() {
		t.Errorf("a run that is open ended at %s", got)
	}
}

package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func TestAgesAreThoseOfTheOldestRows(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if got, err := s.Ages(t.Context(), "contracts"); err != nil || got != (trade.Ages{}) {
			t.Fatalf("ages of a job without rows: %+v, %v", got, err)
		}
		must.Do(t, s.StartRun(t.Context(),
			trade.RunReport{ID: "r1", Job: "contracts", StartedAt: at.Add(-time.Hour)}))
		lease := mustLease(t, s, "contracts")
		var rows []trade.Entry
		for i := range 4 {
			e := newEntry(fmt.Sprint(i))
			e.FirstSeenAt = at.Add(time.Duration(i) * time.Minute)
			rows = append(rows, e)
		}
		rows = mustRecord(t, s, lease, rows...)
		sent := mustSend(t, s, lease, rows[0])
		mustSettle(t, s, lease, created(sent, "id-0"))
		doubt := mustSend(t, s, lease, rows[1])
		mustSettle(t, s, lease, unknown(doubt))
		want := trade.Ages{
			Unsent:  at.Add(2 * time.Minute).Truncate(time.Millisecond),
			Pending: at.Add(2 * time.Minute).Truncate(time.Millisecond), InDoubt: at.Truncate(time.Millisecond),
			Newest:   at.Add(3 * time.Minute).Truncate(time.Millisecond),
			FirstRun: at.Add(-time.Hour).Truncate(time.Millisecond),
		}
		got, err := s.Ages(t.Context(), "contracts")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ages (-want +got):\n%s%v", diff, err)
		}
	})
}

package state

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// Each doubt stays one for the life of the ledger. Where there are more than are looked at, those
// in doubt come before those that are decided, of both the newest first, and what is left out is
// older than since.
func TestDoubtsGivesTheOpenOnesAndTheNewestFirst(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		keys := []string{"a", "b", "c", "d", "e"}
		for i, key := range keys {
			e := mustRecord(t, s, lease, newEntry(key))[0]
			gone := unknown(mustSend(t, s, lease, e))
			gone.Attempt.FinishedAt = at.Add(time.Duration(i) * time.Hour)
			mustSettle(t, s, lease, gone)
		}
		for _, key := range []string{"b", "c", "e"} {
			e := mustEntry(t, s, "contracts", key)
			e.State = trade.Dismissed
			mustCommit(t, s, lease, trade.Group{Updates: []trade.Update{{From: trade.InDoubt, Entry: e}}})
		}
		flying := mustRecord(t, s, lease, newEntry("f"))[0]
		mustSend(t, s, lease, flying)
		for _, tt := range []struct {
			most int
			want []string
		}{
			{5, []string{"a", "b", "c", "d", "e", "f"}},
			{4, []string{"a", "c", "d", "e", "f"}},
			{3, []string{"a", "d", "e", "f"}},
			{1, []string{"d", "f"}},
		} {
			doubts, err := s.doubtRows(t.Context(), tt.most)
			var got []string
			for _, d := range doubts {
				got = append(got, d.Entry.Key)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("of at most %d: %v (-want +got):\n%s", tt.most, err, diff)
			}
		}
	})
}

package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// What is told of due entries without reading them whole is what they hold.
func TestTheContentsOfWhatIsDueAreThoseOfTheEntries(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		later, waits := newEntry("3"), newEntry("4")
		later.NextAttemptAt, waits.State = at.Add(time.Hour), trade.Waiting
		mustRecord(t, s, lease, newEntry("1"), newEntry("2"), later, waits)
		for after, want := range map[int64]int{0: 2, 1: 1} {
			due, err := s.Due(t.Context(), "contracts", at, after, 10)
			if err != nil || len(due) != want {
				t.Fatal(len(due), err)
			}
			for i, e := range due {
				due[i] = trade.Entry{
					ID: e.ID, Job: e.Job, Sends: e.Sends, Key: e.Key, SourceHash: e.SourceHash,
					PayloadHash: e.PayloadHash, Target: e.Target, Payload: e.Payload,
				}
			}
			got := must.Get(s.NewContents(t.Context(), "contracts", trade.Pending, after, 10))(t)
			if diff := cmp.Diff(due, got[:want]); diff != "" || len(got) != want+1 {
				t.Errorf("after %d: %d contents (-entries +told)\n%s", after, len(got), diff)
			}
		}
		if got, err := s.NewContents(t.Context(), "contracts", trade.Pending, 0, 1); err != nil || len(got) != 1 {
			t.Errorf("%d of one, %v", len(got), err)
		}
		if got, err := s.NewContents(t.Context(), "contracts", trade.Waiting, 0, 9); err != nil || len(got) != 1 {
			t.Errorf("%d of one that waits, %v", len(got), err)
		}
	})
}

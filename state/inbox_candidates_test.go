package state

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// F148: only what was read back takes a place among the records with which doubts are compared:
// events may name thousands of other ids. Of too many, those count of which events told last.
func TestF148OnlyWhatWasReadBackIsCompared(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var want []string
		for i, fields := range []map[string]string{nil, {"amount": "3"}, {"amount": "4"}, nil, {"amount": "5"}} {
			told := at.Add(time.Duration(i) * time.Second)
			noted := trade.Candidate{
				ID: uuid.NewString(), Event: "CREATE_ORDER_COMMITMENT", Purpose: trade.ForDoubts,
				HeardAt: at, LastAt: told, NextAt: at,
			}
			must.Do(t, s.StoreNotes(t.Context(), nil, []trade.Candidate{noted}))
			noted.State, noted.Fields = trade.CandidateUnreadable, fields
			must.Do(t, s.SaveCandidate(t.Context(), noted))
			if i == 2 || i == 4 {
				want = slices.Insert(want, 0, noted.ID)
			}
		}
		for since, most := range map[time.Time]int{at: 2, at.Add(2 * time.Second): 10} {
			found, err := s.ReadBack(t.Context(), since, most)
			var got []string
			for _, c := range found {
				got = append(got, c.ID)
			}
			if !slices.Equal(got, want) || err != nil {
				t.Errorf("since %s, at most %d: %v, %v; want %v", since, most, got, err, want)
			}
		}
	})
}

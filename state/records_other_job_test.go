package state

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Of several jobs that begin at the same moment with the same keys, each key is claimed by one,
// whichever came first; in doubt and accepted rows count as well.
func TestAKeyOfAKindIsClaimedByOneJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		const jobs, rounds, size = 4, 6, 10
		var mu sync.Mutex
		claimed := map[string]int{}
		var wg sync.WaitGroup
		for j := range jobs {
			lease := mustLease(t, s, fmt.Sprint("job", j))
			must.Do(t, s.SetJobStatus(t.Context(),
				trade.JobStatus{Job: lease.Job, State: trade.Running, Since: at}))
			wg.Go(func() {
				for round := range rounds {
					var fresh []trade.Entry
					for i := range size {
						fresh = append(fresh, newEntry(fmt.Sprintf("%d-%d", round, i)))
					}
					if _, err := s.Record(t.Context(), lease, trade.Page{New: fresh}); err != nil {
						t.Error(err)
						return
					}
					due, err := s.Due(t.Context(), lease.Job, at, 0, 1000)
					if err != nil {
						t.Error(err)
						return
					}
					var g trade.Group
					for _, e := range due {
						g.Intents = append(g.Intents, intentOf(e))
					}
					r, err := s.Commit(t.Context(), lease, g)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, in := range g.Intents {
						if r.Claimed[in.Attempt.ID] {
							claimed[in.Entry.Key]++
						} else if !r.Elsewhere[in.Attempt.ID] {
							t.Errorf("%s %s was not claimed, and nobody says why", lease.Job, in.Entry.Key)
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for key, n := range claimed {
			if n != 1 {
				t.Errorf("%s was claimed %d times", key, n)
			}
		}
		if len(claimed) != rounds*size {
			t.Errorf("%d keys were claimed, want %d", len(claimed), rounds*size)
		}
	})
}

// What one job has sent, another claims only when a person has said that it is another record, or
// when the keys are of another space.
func TestAKeyThatAnotherJobHasSentNeedsAPersonOrASpaceOfItsOwn(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a, b := mustLease(t, s, "a"), mustLease(t, s, "b")
		sent := mustRecord(t, s, a, newEntry("1"), newEntry("2"), newEntry("3"), newEntry("4"))
		first := mustSend(t, s, a, sent[0])
		mustSettle(t, s, a, created(first, "11111111-1111-4111-8111-111111111111"))
		second := mustSend(t, s, a, sent[1])
		mustSettle(t, s, a, unknown(second))
		third := mustSend(t, s, a, sent[2])
		mustSettle(t, s, a, refused(third))

		spaces := map[string]string{}
		try := func(lease trade.Lease, e trade.Entry, want bool) {
			t.Helper()
			in := intentOf(e)
			r := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{in}, Space: spaces[lease.Job]})
			if r.Claimed[in.Attempt.ID] != want || r.Elsewhere[in.Attempt.ID] == want {
				t.Errorf("%s %s: claimed %v, elsewhere %v", lease.Job, e.Key, r.Claimed, r.Elsewhere)
			}
		}
		own := mustRecord(t, s, b, newEntry("1"), newEntry("2"), newEntry("3"), newEntry("4"))
		keys := trade.RecordQuery{Job: "b", Kind: trade.OrderCommitments, Keys: []string{"1", "2", "3", "4"}}
		found, alone, err := s.Records(t.Context(), keys)
		if err != nil || alone || len(found) != 2 || found[0].RemoteID == "" || found[0].Job != "a" ||
			found[0].Certainty != trade.Made || found[1].Row.State != trade.InDoubt ||
			found[1].Certainty != trade.Maybe {
			t.Errorf("%+v, %v, %v", found, alone, err)
		}
		try(b, own[0], false)
		try(b, own[1], false)
		try(b, own[2], true)
		try(b, own[3], true)
		another := own[0]
		another.DeclaredDistinct = another.PayloadHash
		try(b, another, true)

		space := func(lease trade.Lease, name string) {
			t.Helper()
			spaces[lease.Job] = name
			cursor := trade.Cursor{Brakes: trade.BrakeState{Identity: &trade.Identity{Space: name}}}
			must.Get(s.Record(t.Context(), lease, trade.Page{Cursor: &cursor}))(t)
		}
		c := mustLease(t, s, "c")
		apart := []trade.Entry{newEntry("1"), newEntry("2")}
		apart[0].SourceHash, apart[1].SourceHash = trade.HashOf("apart-1"), trade.HashOf("apart-2")
		other := mustRecord(t, s, c, apart...)
		space(c, "erp2")
		try(c, other[0], false) // of the others it is not known
		space(a, "")
		space(b, "")
		try(c, other[0], true)
		space(c, "")
		try(c, other[1], false)

		// What cannot be read is told as a fault of the ledger.
		mustExec(t, s, `UPDATE job_cursor SET brakes = '!' WHERE job = 'a'`)
		_, _, err = s.Records(t.Context(), keys)
		says(t, err, "looking for records", "what the brakes of job a remember is damaged")
		if fault := (*sqldb.Error)(nil); !errors.As(err, &fault) {
			t.Errorf("%v is no fault of the ledger", err)
		}
	})
}

package state

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// A record is found by what was sent while it may exist, and not once it is proved not to.
func TestARecordIsFoundWhereItMayHaveBeenMade(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var page []trade.Entry
		for _, key := range []string{"created", "doubt", "open", "refused", "never", "different"} {
			e := newEntry(key)
			e.SourceHash = trade.HashOf("same")
			if key == "different" {
				e.SourceHash = trade.HashOf("different")
			}
			page = append(page, e)
		}
		es := mustRecord(t, s, lease, page...)
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), "r1"), unknown(mustSend(t, s, lease, es[1])),
			refused(mustSend(t, s, lease, es[3])), created(mustSend(t, s, lease, es[5]), "r2"))
		mustSend(t, s, lease, es[2])
		query := trade.RecordQuery{Job: "contracts", Kind: trade.OrderCommitments, Prints: []trade.Prints{
			{Cells: trade.HashOf("same")}, {Cells: trade.HashOf("same")}, {Near: 11}, {},
		}}
		found, alone, err := s.Records(t.Context(), query)
		var keys []string
		for _, r := range found {
			keys = append(keys, r.Key+" "+string(r.Certainty))
		}
		want := []string{"created made", "doubt maybe", "open maybe"}
		if diff := cmp.Diff(want, keys); diff != "" || !alone || err != nil {
			t.Errorf("found (-want +got):\n%s\nalone %v, %v", diff, alone, err)
		}
		query.Kind = trade.Deliveries
		if found, _, err := s.Records(t.Context(), query); len(found) != 0 || err != nil {
			t.Errorf("another kind: %v, %v", found, err)
		}
		unsent := must.Get(s.Unsent(t.Context(), trade.OrderCommitments, []trade.Hash{trade.HashOf("same")}))(t)
		if len(unsent) != 2 || unsent[0].Key != "refused" || unsent[1].Key != "never" {
			t.Errorf("unsent: %+v", unsent)
		}
		// What a person edits by hand in the ledger is found, with the row.
		if odd, err := s.Unrecorded(t.Context()); len(odd) != 0 || err != nil {
			t.Errorf("contradicting: %v, %v", odd, err)
		}
		mustExec(t, s, `UPDATE record SET certainty = 'void' WHERE key = 'doubt'`)
		mustExec(t, s, `UPDATE record SET sent_business = 5 WHERE key = 'created'`)
		rows := slices.DeleteFunc(must.Get(s.Diagnose(t.Context(), "", true))(t),
			func(d Diagnosis) bool { return d.Check != "rows" })
		if len(rows) != 1 || rows[0].Problem != ProblemEdited || rows[0].Args[0] != 2 {
			t.Errorf("the doctor says %+v", rows)
		}
	})
}

// Another job's record is found by its key, where the two jobs are not told to be apart.
func TestARecordIsFoundByTheKeyOfAnotherJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a := mustLease(t, s, "a")
		mustSettle(t, s, a, created(mustSend(t, s, a, mustRecord(t, s, a, newEntry("1"))[0]), "r1"))
		mustRecord(t, s, mustLease(t, s, "b"), newEntry("2"))
		found, alone, err := s.Records(t.Context(), trade.RecordQuery{
			Job: "b", Kind: trade.OrderCommitments, Keys: []string{"1", "3"},
		})
		if err != nil || alone || len(found) != 1 || found[0].Row.Job != "a" || found[0].Sent != found[0].Newest {
			t.Errorf("%+v, %v, %v", found, alone, err)
		}
	})
}

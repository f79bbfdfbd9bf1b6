package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// What waits for a row is found by its key, and not by another's that begins with it.
func TestWhatWaitsForARowIsFound(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "deliveries")
		var page trade.Page
		for i, parent := range []string{`01|1`, `01|1`, `01|10`, `01|a"<b`} {
			e := newEntry(fmt.Sprintf("01|%d", i))
			e.Job, e.State, e.Cause, e.Payload = "deliveries", trade.Waiting, trade.CauseParent, nil
			e.WaitingFor = []trade.Awaited{{Job: "contracts", Key: parent}}
			page.New = append(page.New, e)
		}
		must.Get(s.Record(t.Context(), lease, page))(t)
		for key, want := range map[string]int{"01|1": 2, "01|10": 1, `01|a"<b`: 1, "01|": 0} {
			got, err := s.Dependents(t.Context(), trade.Entry{Job: "contracts", Key: key}, 10)
			if err != nil || len(got) != want {
				t.Errorf("%s: %d rows, %v, want %d", key, len(got), err, want)
			}
		}
		parent := trade.Entry{Job: "contracts", Key: "01|1"}
		if got, err := s.Dependents(t.Context(), parent, 1); err != nil || len(got) != 1 {
			t.Errorf("one of two: %d, %v", len(got), err)
		}
	})
}

// What went with the id of a contract is found beside what waits for it, in both kinds of record,
// and so is its place among the rows of its state.
func TestWhatHangsOnAContractIsFoundAfterItWasSent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "deliveries")
		parent := trade.Entry{Job: "contracts", Key: "01|1", Sends: trade.OrderCommitments, RemoteID: sqldb.NewID()}
		var page trade.Page
		for i, contract := range []string{parent.RemoteID, sqldb.NewID(), parent.RemoteID, "", parent.RemoteID} {
			e := newEntry(fmt.Sprintf("T%d", i))
			e.Job, e.Sends, e.Payload = "deliveries", trade.Deliveries, []byte(`{"contract_id":"`+contract+`"}`)
			switch {
			case contract == "":
				e.State, e.Cause, e.Payload = trade.Waiting, trade.CauseParent, nil
				e.WaitingFor = []trade.Awaited{{Job: parent.Job, Key: parent.Key}}
			case i == 2: // wherever its request names it
				e.Payload = []byte(`{"car":"1", "contract_id": "` + contract + `"}`)
			case i == 4:
				e.Sends, e.Target, e.Payload = trade.Traceability, contract, []byte(`{}`)
			}
			page.New = append(page.New, e)
		}
		must.Get(s.Record(t.Context(), lease, page))(t)
		keys := func(limit int) string {
			found := must.Get(s.Dependents(t.Context(), parent, limit))(t)
			var out []string
			for _, e := range found {
				out = append(out, e.Key)
			}
			return strings.Join(out, " ")
		}
		if all, some := keys(10), keys(2); all != "T3 T0 T2 T4" || some != "T3 T0" {
			t.Errorf("%q hang on the contract, the first two of them are %q", all, some)
		}
		e := mustEntry(t, s, "deliveries", "T2")
		if place, of, err := s.Place(t.Context(), e, []trade.State{e.State}); place != 3 || of != 4 || err != nil {
			t.Errorf("T2 is %d of %d, %v", place, of, err)
		}
		place, of, err := s.Place(t.Context(), e, []trade.State{e.State}, "no cause")
		if place != 0 || of != 0 || err != nil {
			t.Errorf("of another cause T2 is %d of %d, %v", place, of, err)
		}
	})
}

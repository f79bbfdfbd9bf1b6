package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Every way to look for rows gives, page by page, what a look at all rows gives.
func TestPagesGiveEachRowOnce(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 2000)
		all := rowsOf(t, s, trade.RowQuery{})
		begin := time.UnixMilli(1_760_000_000_000)
		is := func(states ...trade.State) func(trade.Entry) bool {
			return func(e trade.Entry) bool { return slices.Contains(states, e.State) }
		}
		for name, tt := range map[string]struct {
			q    trade.RowQuery
			want func(trade.Entry) bool
		}{
			"all":       {trade.RowQuery{}, func(trade.Entry) bool { return true }},
			"one state": {trade.RowQuery{States: []trade.State{trade.Invalid}}, is(trade.Invalid)},
			"two states": {
				trade.RowQuery{States: []trade.State{trade.Held, trade.Accepted}},
				is(trade.Held, trade.Accepted),
			},
			"another job": {trade.RowQuery{Jobs: []string{"deliveries"}}, is()},
			"a cause": {
				trade.RowQuery{Causes: []string{"message.wallet.not-found", "nothing"}},
				is(trade.Rejected),
			},
			"cause, state": {trade.RowQuery{
				Causes: []string{"message.wallet.not-found"},
				States: []trade.State{trade.Waiting},
			}, is()},
			"a flag": {
				trade.RowQuery{Flags: []trade.Flag{trade.Changed, trade.Twin}},
				func(e trade.Entry) bool { return e.Flags.Has(trade.Changed) },
			},
			"a number": {trade.RowQuery{Text: "777"}, func(e trade.Entry) bool { return e.Key[3:] == "000000777" }},
			"a key": {
				trade.RowQuery{Text: "04|000000777"},
				func(e trade.Entry) bool { return e.Key == "04|000000777" },
			},
			"a branch": {trade.RowQuery{Text: "04|"}, func(e trade.Entry) bool { return e.Key[:3] == "04|" }},
			"inside": {
				trade.RowQuery{Text: "|0000007"},
				func(e trade.Entry) bool { return e.Key[2:10] == "|0000007" },
			},
			"nowhere": {trade.RowQuery{Text: "x'%_\\"}, is()},
			"a time": {
				trade.RowQuery{From: begin.Add(500 * time.Second), Until: begin.Add(700 * time.Second)},
				func(e trade.Entry) bool {
					return !e.UpdatedAt.Before(begin.Add(500*time.Second)) &&
						e.UpdatedAt.Before(begin.Add(700*time.Second))
				},
			},
			"time and state": {trade.RowQuery{
				From:   begin.Add(1500 * time.Second),
				States: []trade.State{trade.Accepted, trade.Held},
			}, func(e trade.Entry) bool {
				return !e.UpdatedAt.Before(begin.Add(1500*time.Second)) &&
					(e.State == trade.Accepted || e.State == trade.Held)
			}},
		} {
			for _, sort := range []trade.RowSort{trade.NewestFirst, trade.OldestFirst, trade.ByKey} {
				var want []string
				for _, e := range all {
					if tt.want(e) {
						want = append(want, e.Key)
					}
				}
				switch sort {
				case trade.NewestFirst:
					slices.Reverse(want)
				case trade.ByKey:
					slices.Sort(want)
				}
				q := tt.q
				q.Sort, q.Limit = sort, 97
				var got []string
				for {
					page, err := s.RowPage(t.Context(), q)
					if err != nil {
						t.Fatalf("%s, %s: %v", name, sort, err)
					}
					for _, e := range page.Rows {
						got = append(got, e.Key)
					}
					if q.After = page.Next; q.After == "" {
						break
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", name, sort, diff)
				}
			}
		}
	})
}

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

package state

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestRowsAreFilteredAndOrdered(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		first, second := mustLease(t, s, "b-job"), mustLease(t, s, "a-job")
		row := func(key string, state trade.State, cause string, updated time.Time, flags ...trade.Flag) trade.Entry {
			e := newEntry(key)
			e.State, e.Cause, e.UpdatedAt, e.Flags = state, cause, updated, flags
			return e
		}
		mustRecord(t, s, first, row("1", trade.Invalid, "rule:payday", at, trade.EchoDiffers, trade.Twin),
			row("2", trade.Waiting, "ref:wallets", at.Add(time.Hour), trade.Changed), row("3", trade.Pending, "", at))
		mustRecord(t, s, second, row("9", trade.Invalid, "rule:price", at.Add(time.Hour)),
			row("2", trade.Held, "vanished", at, trade.Twin))
		for _, c := range []struct {
			name   string
			filter trade.RowQuery
			want   []string
		}{
			{"everything", trade.RowQuery{}, []string{"a-job 9", "a-job 2", "b-job 1", "b-job 2", "b-job 3"}},
			{"a job", trade.RowQuery{Jobs: []string{"b-job"}}, []string{"b-job 1", "b-job 2", "b-job 3"}},
			{
				"states",
				trade.RowQuery{States: []trade.State{trade.Invalid, trade.Held}},
				[]string{"a-job 9", "a-job 2", "b-job 1"},
			},
			{
				"states, and a limit in the midst",
				trade.RowQuery{
					Jobs: []string{"b-job"}, States: []trade.State{trade.Pending, trade.Waiting, trade.Invalid},
					Limit: 2,
				},
				[]string{"b-job 1", "b-job 2"},
			},
			{"states and a flag", trade.RowQuery{
				States: []trade.State{trade.Invalid, trade.Waiting},
				Flags:  []trade.Flag{trade.Twin},
			}, []string{"b-job 1"}},
			{"causes", trade.RowQuery{Causes: []string{"rule:payday", "vanished"}}, []string{"a-job 2", "b-job 1"}},
			{"a flag", trade.RowQuery{Flags: []trade.Flag{trade.Twin}}, []string{"a-job 2", "b-job 1"}},
			{
				"one of two flags",
				trade.RowQuery{Flags: []trade.Flag{trade.Changed, trade.EchoDiffers}},
				[]string{"b-job 1", "b-job 2"},
			},
			{"a key", trade.RowQuery{Key: "2"}, []string{"a-job 2", "b-job 2"}},
			{"since", trade.RowQuery{From: at.Add(time.Hour)}, []string{"a-job 9", "b-job 2"}},
			{"a limit", trade.RowQuery{Limit: 3}, []string{"a-job 9", "a-job 2", "b-job 1"}},
			{
				"all together",
				trade.RowQuery{
					Jobs: []string{"b-job"}, States: []trade.State{trade.Waiting},
					Causes: []string{"ref:wallets"}, Flags: []trade.Flag{trade.Changed}, Key: "2", From: at, Limit: 1,
				},
				[]string{"b-job 2"},
			},
			{"nothing", trade.RowQuery{Jobs: []string{"none"}}, nil},
		} {
			var got []string
			if err := s.Rows(t.Context(), c.filter, func(e trade.Entry) error {
				got = append(got, e.Job+" "+e.Key)
				return nil
			}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
		stop := errors.New("enough")
		if err := s.Rows(t.Context(), trade.RowQuery{},
			func(trade.Entry) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("Rows: %v, want the function's own error", err)
		}
		if _, err := s.Entry(t.Context(), "b-job", "none"); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("Entry: %v, want ErrNotFound", err)
		}
		jobs, err := s.Jobs(t.Context())
		if diff := cmp.Diff([]string{"a-job", "b-job"}, jobs); diff != "" || err != nil {
			t.Errorf("jobs (-want +got):\n%s%v", diff, err)
		}
		counts, err := s.FlagCounts(t.Context(), "b-job")
		if diff := cmp.Diff(map[trade.Flag]int{trade.EchoDiffers: 1, trade.Twin: 1, trade.Changed: 1},
			counts); diff != "" || err != nil {
			t.Errorf("flag counts (-want +got):\n%s%v", diff, err)
		}
	})
}

// Rows of several states come in the order of their numbers, each once, over more than one page.
func TestRowsOfSeveralStatesComeInOneOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		states := []trade.State{trade.Invalid, trade.Waiting, trade.Held, trade.Invalid, trade.Pending}
		var page []trade.Entry
		var want []string
		for i := range 3*entryPage + 7 {
			e := newEntry(fmt.Sprintf("01|%04d", i))
			if e.State = states[i%len(states)]; e.State != trade.Pending {
				e.Cause = "rule:payday"
				want = append(want, e.Key)
			}
			page = append(page, e)
		}
		mustRecord(t, s, lease, page...)
		for _, limit := range []int{0, 1, entryPage, 2*entryPage + 1} {
			var got []string
			for _, e := range rowsOf(t, s, trade.RowQuery{
				States: []trade.State{trade.Held, trade.Invalid, trade.Waiting}, Limit: limit,
			}) {
				got = append(got, e.Key)
			}
			most := limit
			if limit == 0 {
				most = len(want)
			}
			if diff := cmp.Diff(want[:most], got); diff != "" {
				t.Errorf("limit %d (-want +got):\n%s", limit, diff)
			}
		}
	})
}

func TestStuckGivesWhatWaitsWithItsVersion(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		rows := mustRecord(
			t, s, lease, newEntry("goes"),
			short("waits", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("1")),
			short("wrong", trade.OrderCommitments, trade.Invalid, sacas("1")), newEntry("too"),
		)
		wrong := rows[2]
		wrong.Cause = "rule:price"
		mustUpdate(t, s, lease, trade.Invalid, wrong)
		got := must.Get(s.Stuck(t.Context(), "contracts"))(t)
		want := []trade.RowVersion{{ID: rows[1].ID, Version: 1}, {ID: wrong.ID, Version: 2}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Stuck (-want +got):\n%s", diff)
		}
	})
}

package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestRunsAreKeptNewestFirst(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		three := 3
		first := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at, States: map[trade.State]int{},
			Flags: map[trade.Flag]int{},
		}
		// The clock was set back between the two: the order is that of the records.
		second := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at.Add(-time.Hour),
			States: map[trade.State]int{},
		}
		other := trade.RunReport{ID: sqldb.NewID(), Job: "others", StartedAt: at}
		for _, r := range []trade.RunReport{first, second, other} {
			must.Do(t, s.StartRun(t.Context(), r))
		}
		first.EndedAt = after(1)
		first.Sweep, first.InScope, first.Gone, first.Sent = true, &three,
			new(int), 2
		first.States[trade.Accepted], first.Flags[trade.Twin] = 3, 1
		first.Notes = trade.Notes{trade.Say("note.recorded_only")}
		first.Stopped = &trade.Stop{
			Code: "key", Why: trade.Say("stop.api_key"), All: true, Sends: trade.OrderCommitments,
			Until: at.Add(time.Hour),
		}
		must.Do(t, s.FinishRun(t.Context(), first))
		var stored []string // codes, and no sentences
		must.Do(t, s.db.All(t.Context(), "reading a run", &stored, `SELECT report FROM run WHERE id = ?`, first.ID))
		for _, text := range []string{first.Stopped.Text(), first.Notes[0].String()} {
			if len(stored) != 1 || strings.Contains(stored[0], text) {
				t.Errorf("%q is stored: %s", text, stored)
			}
		}
		runs, err := s.Runs(t.Context(), "contracts", 0)
		if diff := cmp.Diff([]trade.RunReport{second, first}, runs, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("runs (-want +got):\n%s%v", diff, err)
		}
		if runs, err := s.Runs(t.Context(), "", 2); len(runs) != 2 || err != nil || runs[0].Job != "others" {
			t.Errorf("runs of all jobs: %v, %v", runs, err)
		}
	})
}

func TestRunsAreReadInPagesAndByTheirIDs(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i := range 5 {
			report := trade.RunReport{
				ID: fmt.Sprintf("run-%d", i), Job: []string{"contracts", "deliveries"}[i%2],
				StartedAt: at, EndedAt: trade.End{Time: at}, Sent: i,
			}
			must.Do(t, s.FinishRun(t.Context(), report))
		}
		var ids []string
		for after := ""; ; {
			page := must.Get(s.RunPage(t.Context(), "contracts", after, 2))(t)
			for _, r := range page.Runs {
				ids = append(ids, r.ID)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"run-4", "run-2", "run-0"}, ids); diff != "" {
			t.Errorf("RunPage (-want +got):\n%s", diff)
		}
		if run, err := s.Run(t.Context(), "run-3"); err != nil || run.Sent != 3 {
			t.Errorf("Run gives %+v, %v", run, err)
		}
		for id, want := range map[string][]int{"run-4": {2, 3}, "run-1": {0}, "run-0": nil, "": nil} {
			before := must.Get(s.RunsBefore(t.Context(), id))(t)
			sent := trade.Map(before, func(r trade.RunReport) int { return r.Sent })
			slices.Sort(sent)
			if !slices.Equal(sent, want) {
				t.Errorf("before %s stand %v, want %v", id, sent, want)
			}
		}
		if _, err := s.Run(t.Context(), "none"); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("Run of a run that is not there: %v", err)
		}
		if _, err := s.RunPage(t.Context(), "", "x", 2); err == nil {
			t.Error("RunPage takes x for where a page begins")
		}
	})
}

func TestRunsAreToldByTheirEnds(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i, r := range []trade.RunReport{
			{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: after(2), Read: 1},
			{ID: sqldb.NewID(), Job: "deliveries", StartedAt: at, EndedAt: after(1), Read: 2},
			{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, Read: 3}, // it has not ended
			{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: after(3), Read: 4},
		} {
			if err := s.FinishRun(t.Context(), r); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
		}
		var got []int
		err := s.RunsEnded(t.Context(), at.Add(time.Minute), at.Add(3*time.Minute), func(r trade.RunReport) error {
			got = append(got, r.Read)
			return nil
		})
		if diff := cmp.Diff([]int{2, 1}, got); diff != "" || err != nil {
			t.Errorf("runs (-want +got):\n%s%v", diff, err)
		}
	})
}

// after returns an end so many minutes after the beginning.
func after(minutes int) trade.End {
	return trade.End{Time: at.Add(time.Duration(minutes) * time.Minute)}
}

// What an earlier run left in flight is in doubt by the recovery of the next one, which did not send it.
func TestARunTellsWhatItPutInDoubtFromWhatItSent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		rows := mustRecord(t, s, lease, newEntry("1"), newEntry("2"))
		mustSend(t, s, lease, rows[0])
		mustSettle(t, s, lease, refused(mustSend(t, s, lease, rows[1])))
		sender := trade.RunReport{ID: "run-1", Job: "contracts", StartedAt: time.Now()}
		if n := must.Get(s.RunSent(t.Context(), sender))(t); n != 2 {
			t.Errorf("it sent %d rows", n)
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		lease = must.Get(s.AcquireLease(t.Context(), "contracts", lease.Owner))(t)
		next := trade.RunReport{ID: "run-2", Job: "contracts", StartedAt: time.Now()}
		must.Get(s.Recover(t.Context(), lease, next.StartedAt.Add(time.Second)))(t)
		did := must.Get(s.RunRows(t.Context(), next))(t)
		if diff := cmp.Diff(map[trade.RunResult][]int64{"in_doubt": {rows[0].ID}}, did); diff != "" {
			t.Errorf("it did (-want +got):\n%s", diff)
		}
		if n := must.Get(s.RunSent(t.Context(), next))(t); n != 0 {
			t.Errorf("the next run sent %d rows", n)
		}
	})
}

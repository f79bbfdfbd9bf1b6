package state

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
)

func TestWhoServesTheLedgerIsKnownUntilItLeavesOrDies(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		since := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		services := func() []Service {
			t.Helper()
			return must.Get(s.Services(t.Context()))(t)
		}
		if got := services(); len(got) != 0 {
			t.Fatalf("an empty ledger is served by %+v", got)
		}
		mustExec(t, s,
			`INSERT INTO service (instance, owner, version, since, seen) VALUES ('old', '{"instance":"old","host":"elsewhere"}', '0.1', 5, 7)`)
		if got := services(); len(got) != 1 || !got[0].Dead || got[0].Owner.Host != "elsewhere" {
			t.Fatalf("a silent service: %+v", got)
		}
		must.Do(t, s.Announce(t.Context(), "1.2", since))
		got := services()
		if len(got) != 1 || got[0].Dead || got[0].Version != "1.2" || !got[0].Since.Equal(since) ||
			got[0].Owner != sqldb.Self() {
			t.Fatalf("the announced service: %+v", got)
		}
		mustExec(t, s, `UPDATE service SET seen = 7`)
		if !services()[0].Dead {
			t.Error("a service that says nothing for years counts as alive")
		}
		if err := s.StillServing(t.Context(), time.Now(), time.Hour); err != nil || services()[0].Dead {
			t.Errorf("a service that goes on counts as dead, or %v", err)
		}
		if err := s.Withdraw(t.Context()); err != nil || len(services()) != 0 {
			t.Errorf("the service is still there, or %v", err)
		}
	})
}

func TestATasksLastTimeIsKept(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if at, err := s.LastTask(t.Context(), "digest"); err != nil || !at.IsZero() {
			t.Errorf("a task that never ran: %v, %v", at, err)
		}
		for _, want := range []time.Time{time.UnixMilli(1000).UTC(), time.UnixMilli(500).UTC()} {
			must.Do(t, s.TaskBegan(t.Context(), "digest", want))
			if at, err := s.LastTask(t.Context(), "digest"); err != nil || !at.Equal(want) {
				t.Errorf("it ran at %v, %v; want %v", at, err, want)
			}
		}
	})
}

package state

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func newAlert(subject string) trade.Alert {
	return trade.Alert{
		Topic: "in_doubt", Subject: subject, Detail: json.RawMessage(`{"rows":2}`),
		Since: at.Add(-time.Hour), SeenAt: at,
	}
}

func messageTo(target string) trade.AlertMessage {
	return trade.AlertMessage{
		Kind: "raised", Target: target, Content: json.RawMessage(`{"subject":"x"}`),
		CreatedAt: at,
	}
}

func mustSaveAlert(t testing.TB, s *Store, a trade.Alert, want bool, messages ...trade.AlertMessage) {
	t.Helper()
	if saved, err := s.SaveAlert(t.Context(), a, messages); saved != want || err != nil {
		t.Fatalf("SaveAlert(%s %s): %v, %v; want %v", a.Topic, a.Subject, saved, err, want)
	}
}

func onlyAlert(t testing.TB, s *Store) trade.Alert {
	t.Helper()
	open, err := s.Alerts(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("%d alerts are open, want 1: %v", len(open), err)
	}
	return open[0]
}

func mustDue(t testing.TB, s *Store, now time.Time, n int) []trade.AlertMessage {
	t.Helper()
	due, err := s.DueMessages(t.Context(), now, 100)
	if err != nil || len(due) != n {
		t.Fatalf("%d messages are due, want %d: %v", len(due), n, err)
	}
	return due
}

func TestAnAlertIsOpenOnceAndChangesOnlyFromWhatWasSeen(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustSaveAlert(t, s, newAlert("contracts"), true)
		mustSaveAlert(t, s, newAlert("contracts"), false, messageTo("a"))
		mustDue(t, s, at, 0) // who comes second tells nobody
		a := onlyAlert(t, s)
		want := newAlert("contracts")
		want.ID, want.Version = a.ID, 1
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("alert (-want +got):\n%s", diff)
		}
		a.RaisedAt = at.Add(time.Minute)
		mustSaveAlert(t, s, a, true, messageTo("a"), messageTo("b"))
		mustSaveAlert(t, s, a, false, messageTo("a"))
		mustDue(t, s, at, 2)

		a = onlyAlert(t, s)
		a.GoneAt, a.ClosedAt = at.Add(time.Hour), at.Add(time.Hour)
		over := messageTo("a")
		over.Kind, over.CreatedAt = "over", at.Add(time.Hour)
		mustSaveAlert(t, s, a, true, over)
		if due := mustDue(t, s, at.Add(time.Hour), 1); due[0].Kind != "over" || due[0].AlertID != a.ID {
			t.Errorf("message %+v: those that nobody got should be superseded", due[0])
		}
		mustSaveAlert(t, s, newAlert("contracts"), true) // it may come again
		onlyAlert(t, s)
	})
}

func TestAMessageIsClaimedByOneAndDueAgainAfterACrash(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustSaveAlert(t, s, newAlert("contracts"), true, messageTo("a"))
		m := mustDue(t, s, at, 1)[0]
		later := at.Add(5 * time.Minute)
		for i, want := range []bool{true, false} {
			if got, err := s.ClaimMessage(t.Context(), m, later); got != want || err != nil {
				t.Fatalf("claim %d: %v, %v; want %v", i+1, got, err, want)
			}
		}
		mustDue(t, s, at, 0)
		m = mustDue(t, s, later, 1)[0] // the process that claimed it has said nothing
		if m.Attempts != 1 {
			t.Errorf("%d attempts, want 1", m.Attempts)
		}
		m.NextAt, m.Fault = at.Add(time.Hour), "smtp_451"
		must.Do(t, s.SettleMessage(t.Context(), m))
		mustDue(t, s, later, 0)
		want := trade.Backlog{Messages: 1, Oldest: at.Truncate(time.Millisecond), Failing: 1}
		if got, err := s.Backlog(t.Context()); err != nil || got != want {
			t.Errorf("backlog %+v, %v; want %+v", got, err, want)
		}
		m.Outcome, m.DoneAt = "delivered", at.Add(time.Hour)
		must.Do(t, s.SettleMessage(t.Context(), m))
		mustDue(t, s, at.Add(24*time.Hour), 0)
		if got, err := s.ClaimMessage(t.Context(), m, later); got || err != nil {
			t.Errorf("a delivered message was claimed: %v, %v", got, err)
		}
		if got, err := s.Backlog(t.Context()); err != nil || got != (trade.Backlog{}) {
			t.Errorf("backlog %+v, %v; want none", got, err)
		}
	})
}

func TestADigestBeginsWhereTheLastOneEndedAndIsMadeOnce(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		m := messageTo("a")
		m.Kind = "digest"
		first, err := s.DigestedUntil(t.Context())
		if err != nil || !first.IsZero() {
			t.Fatalf("a new ledger was digested until %v, %v", first, err)
		}
		for i, want := range []bool{true, false} {
			if saved, err := s.SaveDigest(t.Context(), first, at, []trade.AlertMessage{m}); saved != want ||
				err != nil {
				t.Fatalf("digest %d: %v, %v; want %v", i+1, saved, err, want)
			}
		}
		mustDue(t, s, at, 1)
		until, err := s.DigestedUntil(t.Context())
		if err != nil || !until.Equal(at) {
			t.Errorf("digested until %v, %v; want %v", until, err, at)
		}
		if saved, err := s.SaveDigest(t.Context(), until, at.Add(time.Hour), nil); !saved || err != nil {
			t.Errorf("the next digest: %v, %v", saved, err)
		}
	})
}

func TestOldAlertsAndMessagesAreRemovedAndOpenOnesStay(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustSaveAlert(t, s, newAlert("open"), true, messageTo("a"))
		closed := newAlert("closed")
		closed.GoneAt, closed.ClosedAt = at, at
		mustSaveAlert(t, s, closed, true, messageTo("b"))
		m := mustDue(t, s, at, 2)[1]
		m.Outcome, m.DoneAt = "delivered", at
		must.Do(t, s.SettleMessage(t.Context(), m))
		for _, before := range []time.Time{at, at.Add(time.Second), at.Add(time.Second)} {
			must.Do(t, s.PruneAlerts(t.Context(), before))
		}
		var alerts, messages int
		must.Do(t, s.db.Read.QueryRow(`SELECT (SELECT COUNT(*) FROM alert), (SELECT COUNT(*) FROM alert_message)`).Scan(
			&alerts, &messages))
		if alerts != 1 || messages != 1 {
			t.Errorf("%d alerts and %d messages are left, want 1 and 1", alerts, messages)
		}
		onlyAlert(t, s)
		mustDue(t, s, at, 1)
	})
}

package state

import (
	"errors"
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// changed returns the keys and states of the rows behind a place, with the next place.
func changed(t testing.TB, s *Store, after trade.FeedPlace) (string, trade.FeedPlace) {
	t.Helper()
	var out []string
	for {
		rows, next, more, err := s.Changes(t.Context(), after, 2)
		must.Do(t, err)
		for _, e := range rows {
			out = append(out, e.Key+" "+string(e.State))
		}
		if after = next; !more {
			return fmt.Sprint(out), after
		}
	}
}

// Who asks again and again gets each change, each row once, in the order in which changes became
// visible, also when a transaction that began earlier commits later.
func TestNoChangeIsMissedByWhoAsksAgain(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		if _, err := s.FeedEnd(t.Context()); !errors.Is(err, trade.ErrNotFound) {
			t.Fatalf("an end of nothing: %v", err)
		}
		for range 2 {
			must.Do(t, s.Feed(t.Context(), true))
		}
		place := must.Get(s.FeedEnd(t.Context()))(t)
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		got, next := changed(t, s, place)
		if got != "[a pending b pending c pending]" {
			t.Errorf("new rows: %s", got)
		}
		attempt := mustSend(t, s, lease, es[0])
		if got, _ := changed(t, s, next); got != "[]" {
			t.Errorf("while it is sent: %s", got)
		}
		mustSettle(t, s, lease, created(attempt, idA))
		if s.db.D.Name == sqldb.Postgres { // an earlier transaction commits after a later one was read
			slow := must.Get(s.db.Write.BeginTxx(t.Context(), nil))(t)
			_, err := slow.ExecContext(t.Context(), `UPDATE entry SET cause = 'x', version = version + 1 WHERE key = 'b'`)
			must.Do(t, err)
			mustSettle(t, s, lease, refused(mustSend(t, s, lease, es[2])))
			got, next = changed(t, s, next)
			if got != "[a accepted c rejected]" {
				t.Errorf("before the slow one: %s", got)
			}
			must.Do(t, slow.Commit())
			if got, next = changed(t, s, next); got != "[b pending]" {
				t.Errorf("after the slow one: %s", got)
			}
		} else if got, next = changed(t, s, next); got != "[a accepted]" {
			t.Errorf("after it was sent: %s", got)
		}
		if got, _ := changed(t, s, next); got != "[]" {
			t.Errorf("nothing changed, and: %s", got)
		}
		_, _, _, err := s.Changes(t.Context(), trade.FeedPlace{Feed: "other"}, 10)
		if !errors.Is(err, trade.ErrNotFound) {
			t.Errorf("a place of another order: %v", err)
		}
		must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			return tx.Do(`UPDATE feed SET wanted_at = wanted_at - 3600001`)
		}))
		must.Do(t, s.Feed(t.Context(), false))
		off := must.Get(s.triggersOff(t.Context(), "testing", fedTriggers))(t)
		if s.db.D.Name == sqldb.Postgres && !off {
			t.Error("a row still costs something")
		}
	})
}

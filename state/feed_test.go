package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const idA = "0194f000-0000-7000-8000-00000000000a"

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
		off := must.Get(s.triggersOff(t.Context(), "testing"))(t)
		if s.db.D.Name == sqldb.Postgres && !off {
			t.Error("a row still costs something")
		}
	})
}

// A place in the changes of a ledger that has gone back since is refused, however it went back: changes
// could be missed otherwise. Events get numbers that none had before.
func TestAPlaceOfALedgerThatWentBackIsRefused(t *testing.T) {
	settled := func(a trade.Attempt, _ trade.Entry) trade.Settlement { return created(a, "remote-"+a.ID) }
	for what, goBack := range map[string]func(k *kept, file string){
		"restored": func(k *kept, file string) { must.Get(Restore(t.Context(), k.o, file, restoreAct))(t) },
		"rebuilt": func(k *kept, file string) {
			must.Do(t, os.Rename(file, k.o.DSN))
			must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
		},
	} {
		t.Run(what, func(t *testing.T) {
			k := keep(t, backends[0].open(t))
			must.Do(t, k.s.Feed(t.Context(), true))
			k.sends("a", 1, 1, settled)
			file := filepath.Join(t.TempDir(), "copy.db")
			if what == "rebuilt" {
				must.Do(t, k.s.Backup(t.Context(), file))
			}
			k.sends("b", 3, 3, settled)
			if what == "restored" {
				must.Do(t, k.s.Backup(t.Context(), file))
			}
			place := lifeOf(t, k.s)
			k.close()
			goBack(k, file)
			k.open()
			k.sends("c", 9, 9, settled)
			wantNewLife(t, k.s, place)
		})
	}
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		must.Do(t, s.Feed(t.Context(), true))
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), idA))
		place := lifeOf(t, s)
		beyond := place
		beyond.Seq++
		if _, _, _, err := s.Changes(t.Context(), beyond, 10); !errors.Is(err, trade.ErrNotFound) {
			t.Errorf("a place behind the end: %v", err)
		}
		must.Do(t, s.db.InTx(t.Context(), "testing", newLife))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[1]), "0194f000-0000-7000-8000-00000000000b"))
		wantNewLife(t, s, place)
	})
}

func lifeOf(t *testing.T, s *Store) trade.FeedPlace {
	t.Helper()
	_, place := changed(t, s, must.Get(s.FeedEnd(t.Context()))(t))
	return place
}

func wantNewLife(t *testing.T, s *Store, place trade.FeedPlace) {
	t.Helper()
	if _, _, _, err := s.Changes(t.Context(), place, 10); !errors.Is(err, trade.ErrNotFound) {
		t.Errorf("the place is still one: %v", err)
	}
}

// Whoever ends the order of changes waits for the writers before it touches what they write: none of the
// two must give way.
func TestEndingTheFeedAndAWriterDoNotLockEachOtherOut(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if s.db.D.Name == sqldb.SQLite {
			return // one writer
		}
		lease := mustLease(t, s, "contracts")
		must.Do(t, s.Feed(t.Context(), true))
		mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		done := make(chan error, 1)
		must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			return tx.Do(`UPDATE feed SET wanted_at = wanted_at - 3600001`)
		}))
		slow := must.Get(s.db.Write.BeginTxx(t.Context(), nil))(t)
		write := func(key string) error {
			_, err := slow.ExecContext(t.Context(), `SET LOCAL deadlock_timeout = '10ms'`)
			must.Do(t, err)
			_, err = slow.ExecContext(t.Context(), `UPDATE entry SET cause = 'x', version = version + 1 WHERE key = $1`, key)
			return err
		}
		must.Do(t, write("b"))
		go func() { done <- s.Feed(t.Context(), false) }()
		for waits := 0; waits == 0; {
			must.Do(t, slow.GetContext(t.Context(), &waits, `SELECT COUNT(*) FROM pg_locks WHERE NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`))
		}
		if err := write("a"); err != nil {
			t.Errorf("the writer: %v", err)
		}
		must.Do(t, slow.Commit())
		must.Do(t, <-done)
	})
}

// Two services that change whether changes are kept at the same moment leave the triggers as they must be:
// the second one waits for the first.
func TestTwoServicesChangeTheFeedOneAfterTheOther(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if s.db.D.Name == sqldb.SQLite {
			return // one service
		}
		must.Do(t, s.Feed(t.Context(), true))
		must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			return tx.Do(`UPDATE feed SET wanted_at = wanted_at - 3600001`)
		}))
		done := make(chan error, 1)
		must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error { // another service is to have changes
			must.Do(t, aloneWithEntries(tx))
			must.Do(t, tx.Do(`UPDATE feed SET wanted_at = `+tx.S.D.Now))
			go func() { done <- s.Feed(t.Context(), false) }()
			for waits := 0; waits == 0; {
				must.Do(t, tx.Get(&waits, `SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'entry'::regclass
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`))
				if len(done) > 0 {
					t.Fatal("it did not wait")
				}
			}
			return switchTriggers(tx)
		}))
		must.Do(t, <-done)
		var feeds int
		must.Do(t, s.db.Get(t.Context(), "testing", &feeds, `SELECT COUNT(*) FROM feed`))
		if off := must.Get(s.triggersOff(t.Context(), "testing"))(t); off != (feeds == 0) {
			t.Errorf("the triggers are off: %t, with %d feeds", off, feeds)
		}
	})
}

// Somebody changes which changes are kept while the ledger is rebuilt: of the two the second one waits
// for the first from its first step, and holds nothing that the first one needs.
func TestARebuildWaitsForWhoeverChangesTheFeedFromItsFirstStep(t *testing.T) {
	t.Parallel()
	o := backends[1].open(t)
	o.Journal = t.TempDir()
	s := mustOpen(t, o)
	must.Do(t, s.Feed(t.Context(), true))
	lease := mustLease(t, s, "contracts")
	mustRecord(t, s, lease, newEntry("a"))
	must.Do(t, s.ReleaseLease(t.Context(), lease))
	done := make(chan error, 1)
	must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
		must.Do(t, aloneWithEntries(tx))
		go func() {
			_, err := Rebuild(t.Context(), o, nil, true, rebuildAct)
			done <- err
		}()
		for waits := 0; waits == 0; {
			must.Do(t, tx.Get(&waits, `SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'entry'::regclass
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`))
			if len(done) > 0 {
				t.Fatalf("it did not wait: %v", <-done)
			}
		}
		var feeds int
		return tx.Get(&feeds, `SELECT one FROM feed FOR UPDATE NOWAIT`)
	}))
	must.Do(t, <-done)
}

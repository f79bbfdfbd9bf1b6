package state

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestF058YesterdaysLedgerIsRefused(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	k.close()
	old := filepath.Join(t.TempDir(), "old.db")
	copyFile(t, k.o.DSN, old)
	k.open()
	k.send("b", 4)
	k.close()
	copyFile(t, old, k.o.DSN)
	text := wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	var e *sqldb.Error
	if errors.As(k.try(sqldb.DefaultTuning), &e); e.Records != 7 || e.Rows != 4 || e.Since.IsZero() ||
		!strings.Contains(text, "safrasync rebuild") {
		t.Errorf("error %+v: %s", e, text)
	}
	// Reading it is allowed: it is how people look at it.
	o := k.o
	o.ReadOnly = true
	mustOpen(t, o)
}

func TestF057ADeletedOrEmptiedLedgerIsRefused(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	k.close()
	whole := must.Get(os.ReadFile(k.o.DSN))(t)
	must.Do(t, os.Remove(k.o.DSN))
	text := wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
	if !strings.Contains(text, "3 rows were sent") {
		t.Errorf("the error says not how many rows: %s", text)
	}
	if _, err := os.Stat(k.o.DSN); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a ledger was made all the same: %v", err)
	}
	must.Do(t, os.WriteFile(k.o.DSN, nil, 0o600))
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
	// A fresh ledger that was made without looking at the journal does not help either.
	must.Do(t, os.Remove(k.o.DSN))
	for _, rest := range []string{"-wal", "-shm"} {
		_ = os.Remove(k.o.DSN + rest)
	}
	o := k.o
	o.Journal = ""
	s := mustOpen(t, o)
	must.Do(t, s.Close())
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
	must.Do(t, os.WriteFile(k.o.DSN, whole, 0o600))
	k.open()
}

func TestF057AnEmptiedPostgresLedgerIsRefused(t *testing.T) {
	t.Parallel()
	k := keep(t, sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: pgtest.Database(t)})
	k.send("a", 2)
	for _, query := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`} {
		must.Do(t, byHand(k.s, query))
	}
	k.close()
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
}

// F057: a folder that was moved without the ledger's file, or a server that has another name now
// and an empty database: the journal tells that rows were sent.
func TestF057ALedgerThatWasLostWhileItMovedIsRefused(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 3)
		want := provenOf(t, k.s)
		k.close()
		journals, stood := k.o.Journal, k.o.DSN
		k.o.DSN = map[string]string{sqldb.SQLite: filepath.Join(t.TempDir(), "state.db")}[k.o.Driver]
		if k.o.Driver == sqldb.Postgres {
			k.o.DSN = pgtest.Database(t)
		} else {
			other := k.o // beside a ledger that is still there, another one may begin
			other.DSN = filepath.Join(t.TempDir(), "other.db")
			mustOpen(t, other)
			removeLedger(t, stood)
		}
		text := wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
		if !strings.Contains(text, "rebuild") || !strings.Contains(text, "state.journal") {
			t.Errorf("the error names no way out: %s", text)
		}
		own := k.o
		own.Journal = filepath.Join(t.TempDir(), "own")
		if own.Driver == sqldb.SQLite {
			own.DSN = filepath.Join(t.TempDir(), "state.db")
			mustOpen(t, own)
		}
		k.o.Journal = journals
		must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
		k.open()
		wantProven(t, k.s, want)
		k.send("b", 2)
		k.close()
		k.open()
	})
}

// A journal in another form is refused by name before anything is written to it.
func TestAJournalInAFormerFormIsRefused(t *testing.T) {
	k := sqliteKept(t)
	file := filepath.Join(k.dir(), "0000000000000001.journal")
	k.close()
	line := bytes.TrimSuffix(must.Get(os.ReadFile(file))(t), []byte("\n"))
	text, _, _ := journal.Unseal(line)
	former, _ := journal.Seal(bytes.Replace(text, []byte(`"form":2`), []byte(`"form":1`), 1))
	must.Do(t, os.WriteFile(file, former, 0o600))
	want := sqldb.FormerFormat(k.dir())
	if err := k.try(sqldb.DefaultTuning); err == nil || err.Error() != want.Error() || bytes.Equal(line, former) {
		t.Errorf("opening: %v, want %v", err, want)
	}
}

func TestALostJournalIsRefused(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 2)
		dir := k.dir()
		k.close()
		must.Do(t, os.Rename(dir, dir+".away"))
		text := wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeJournalLost)
		if !strings.Contains(text, "rebuild --new-journal") {
			t.Errorf("the error names no way out: %s", text)
		}
		must.Do(t, os.Rename(dir+".away", dir))
		k.open()
		k.send("b", 2)
		k.close()
		// F056: a disk that lied about a flush lost the journal's end.
		file := filepath.Join(dir, "0000000000000001.journal")
		whole := must.Get(os.ReadFile(file))(t)
		lines := strings.SplitAfter(string(whole), "\n")
		must.Do(t, os.WriteFile(file, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600))
		wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeJournalLost)
		// Damage before the end.
		must.Do(t, os.WriteFile(file, []byte(strings.Replace(string(whole), "attempted", "attemptez", 1)),
			0o600))
		wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeJournal, file)
	})
}

func TestF064ACopyOfLedgerAndJournalIsRefused(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 2)
	k.close()

	// The whole machine was cloned, and got an id of its own.
	clone := sqldb.DefaultTuning
	clone.Machine = func() string { return "another-machine" }
	here := sqldb.DefaultTuning
	if here.Machine() == "" {
		here.Machine = func() string { return "this-machine" }
		fresh := &kept{t: t, o: backends[0].open(t)}
		fresh.o.Version, fresh.o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
		must.Do(t, fresh.try(here))
		fresh.send("a", 2)
		fresh.close()
		wantCode(t, fresh.try(clone), sqldb.CodeCopied)
	} else {
		wantCode(t, k.try(clone), sqldb.CodeCopied)
	}

	// The file was copied to another place of the same host, with the same journal.
	second := *k
	second.o.DSN = filepath.Join(t.TempDir(), "copy.db")
	copyFile(t, k.o.DSN, second.o.DSN)
	wantCode(t, second.try(sqldb.DefaultTuning), sqldb.CodeCopied)
	k.open()
	k.send("b", 1)
	k.close()

	// It was moved: nothing stands where it was.
	must.Do(t, os.Rename(k.o.DSN, second.o.DSN))
	second.open()
	second.send("c", 1)
	second.close()
	second.open()

	// Ledger and journal were copied, and both went on: the records have the same numbers and are
	// not the same.
	second.close()
	third := second
	third.o.Journal, third.o.DSN = filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "third.db")
	must.Do(t, os.CopyFS(third.o.Journal, os.DirFS(second.o.Journal)))
	must.Do(t, os.Rename(second.o.DSN, third.o.DSN))
	copyFile(t, third.o.DSN, second.o.DSN)
	second.open()
	second.send("d", 2)
	second.close()
	must.Do(t, os.Remove(second.o.DSN))
	third.open()
	third.send("e", 1)
	third.close()
	third.o.Journal = second.o.Journal
	wantCode(t, third.try(sqldb.DefaultTuning), sqldb.CodeCopied)
}

func TestALedgerWithAJournalIsNotSentFromWithoutIt(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 1)
		k.close()
		o := k.o
		o.Journal = ""
		s := mustOpen(t, o)
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("b"))
		_, err := s.Commit(t.Context(), lease, trade.Group{At: at, Intents: []trade.Intent{intentOf(es[0])}})
		wantCode(t, err, sqldb.CodeJournal)
		if got := mustEntry(t, s, "contracts", "b").State; got != trade.Pending {
			t.Errorf("the entry is %s", got)
		}
	})
}

func TestF058AnotherHostNoticesAnOlderPostgresLedger(t *testing.T) {
	t.Parallel()
	a := keep(t, sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: pgtest.Database(t)})
	b := *a
	b.o.Journal = filepath.Join(t.TempDir(), "journal of another host")
	b.open()
	a.send("a", 2)
	b.send("b", 2)
	a.send("c", 2)
	a.close()
	b.close()
	// The ledger forgets what b sent, as a backup from before would.
	must.Do(t, byHand(mustOpen(t, sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: a.o.DSN}),
		`UPDATE journal SET seq = seq - 1 WHERE path LIKE '%another host%'`))
	wantCode(t, a.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
}

func TestF060AJournalOnANetworkFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	o := backends[0].open(t)
	o.Journal = filepath.Join(t.TempDir(), "a", "b")
	tune := sqldb.DefaultTuning
	tune.FsMagic = func(path string) (int64, bool) {
		if path == filepath.Dir(o.DSN) || path == o.DSN {
			return 0xEF53, true
		}
		return 0x6969, filepath.Base(path) != "b" && filepath.Base(path) != "a"
	}
	_, err := open(t.Context(), o, tune)
	wantCode(t, err, sqldb.CodeNetworkFS)
}

func TestF061OneRunServesASQLiteLedger(t *testing.T) {
	k := sqliteKept(t)
	release, err := k.s.Serve()
	if err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, k.o) // other commands work beside it
	_, err = second.Serve()
	if text := wantCode(t, err, sqldb.CodeServed); !strings.Contains(text, fmt.Sprint(os.Getpid())) {
		t.Errorf("the error does not name the process: %s", text)
	}
	must.Do(t, release())
	won := make(chan func() error, 50)
	var wg sync.WaitGroup
	for range cap(won) {
		wg.Go(func() {
			if release, err := k.s.Serve(); err == nil {
				won <- release
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d of %d serve the ledger", len(won), cap(won))
	}
	must.Do(t, (<-won)())
}

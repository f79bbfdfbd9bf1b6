package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// kept is a ledger with a journal, and a copy machine.
type kept struct {
	t testing.TB
	o Options
	s *Store
}

func keep(t testing.TB, o Options) *kept {
	t.Helper()
	o.Version, o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
	k := &kept{t: t, o: o}
	k.open()
	return k
}

// open opens the ledger, and closes it at the end of the test.
func (k *kept) open() {
	k.t.Helper()
	if err := k.try(defaultTuning); err != nil {
		k.t.Fatalf("opening the ledger: %v", err)
	}
}

func (k *kept) try(tune tuning) error {
	s, err := open(context.Background(), k.o, tune)
	if err != nil {
		return err
	}
	k.s = s
	k.t.Cleanup(func() { _ = s.Close() })
	return nil
}

func (k *kept) close() {
	k.t.Helper()
	if err := k.s.Close(); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) dir() string { return filepath.Join(k.o.Journal, k.s.LedgerID()) }

// copyTo copies the closed SQLite file.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// journaled runs a test on SQLite and on PostgreSQL, each with a journal.
func journaled(t *testing.T, test func(t *testing.T, k *kept)) {
	t.Helper()
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			test(t, keep(t, b.open(t)))
		})
	}
}

// sqliteKept runs a test that copies files.
func sqliteKept(t *testing.T) *kept {
	t.Helper()
	t.Parallel()
	return keep(t, backends[0].open(t))
}

// send records n entries, sends them, and settles all but the last.
func (k *kept) send(prefix string, n int) []trade.Entry {
	k.t.Helper()
	lease := mustLease(k.t, k.s, "contracts")
	var entries []trade.Entry
	for i := range n {
		entries = append(entries, newEntry(fmt.Sprintf("%s%d", prefix, i)))
	}
	entries = mustRecord(k.t, k.s, lease, entries...)
	for i, e := range entries {
		a := mustSend(k.t, k.s, lease, e)
		if i < n-1 {
			mustCommit(k.t, k.s, lease, trade.Group{Settle: []trade.Settlement{created(a, "remote-"+e.Key)}})
		}
	}
	if err := k.s.ReleaseLease(k.t.Context(), lease); err != nil {
		k.t.Fatal(err)
	}
	return entries
}

func TestLedgerAndJournalGoInStep(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 3)
		k.close()
		k.open()
		if diff := cmp.Diff(Opening{}, k.s.Opening()); diff != "" {
			t.Errorf("opening a ledger in step settled something: %s", diff)
		}
		k.send("b", 3)
		var kinds []string
		_, err := journal.Read(k.dir(), -1, func(r journal.Record, _ string) error {
			kinds = append(kinds, fmt.Sprintf("%d+%d", len(r.Outcomes), len(r.Intents)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Fields("0+1 1+0 0+1 1+0 0+1 0+1 1+0 0+1 1+0 0+1"), kinds); diff != "" {
			t.Errorf("records, outcomes+intents (-want +got):\n%s", diff)
		}
		// Discovery, leases and references cost the journal nothing, and reading does not touch it.
		if err := os.RemoveAll(k.o.Journal); err != nil {
			t.Fatal(err)
		}
		o := k.o
		o.ReadOnly = true
		mustOpen(t, o)
	})
}

// endBetween leaves the journal one record ahead, as a process that ends between flush and commit does.
func (k *kept) endBetween(lease trade.Lease, g trade.Group) {
	k.t.Helper()
	stop := errors.New("the process ends here")
	err := k.s.inTx(k.t.Context(), "testing", func(tx *tx) error {
		gr := &groupTx{tx: tx, lease: lease, group: g, now: at, sums: tallyChange{}, result: trade.GroupResult{
			Claimed: map[string]bool{}, Settled: map[string]bool{}, Conflicts: map[string]string{},
		}}
		if err := gr.run(); err != nil {
			return err
		}
		if err := tx.writeNote(); err != nil {
			return err
		}
		return stop
	})
	if err := k.s.ReleaseLease(k.t.Context(), lease); err != nil {
		k.t.Fatal(err)
	}
	if !errors.Is(err, stop) {
		k.t.Fatalf("ending between journal and ledger: %v", err)
	}
	k.close()
}

func TestF054_ACrashBetweenJournalAndLedgerIsSettledAtTheNextStart(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
		first, second := mustSend(t, k.s, lease, es[0]), mustSend(t, k.s, lease, es[1])
		in := intentOf(es[2])
		k.endBetween(lease, trade.Group{At: at, Settle: []trade.Settlement{created(first, "remote-a"), refused(second)}, Intents: []trade.Intent{in}})
		k.open()
		if diff := cmp.Diff(Opening{Settled: 2, Doubts: 1}, k.s.Opening()); diff != "" {
			t.Errorf("opening (-want +got):\n%s", diff)
		}
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.Rejected, "c": trade.InDoubt, "d": trade.Pending}
		if diff := cmp.Diff(want, statesOf(t, k.s, "contracts")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		b, c := mustEntry(t, k.s, "contracts", "b"), mustEntry(t, k.s, "contracts", "c")
		if a := mustEntry(t, k.s, "contracts", "a"); a.RemoteID != "remote-a" || a.Attempts != 1 {
			t.Errorf("accepted: %+v", a)
		}
		if b.Cause != "message.wallet.not-found" || b.NextAttemptAt.IsZero() {
			t.Errorf("rejected: %+v", b)
		}
		attempts, err := k.s.Attempts(t.Context(), c.ID)
		if err != nil || len(attempts) != 1 || attempts[0].ID != in.Attempt.ID || attempts[0].Outcome != trade.OutcomeUnknown || c.Cause != trade.CauseUnknown {
			t.Errorf("in doubt: %+v, attempts %+v, %v", c, attempts, err)
		}
		mustAddUp(t, k.s, "contracts")
		audit, err := k.s.Audit(t.Context(), 1)
		if err != nil || len(audit) != 1 || audit[0].Act != "journal settle" {
			t.Errorf("audit %+v, %v", audit, err)
		}
		// It is settled once.
		k.close()
		k.open()
		if k.s.Opening() != (Opening{}) {
			t.Errorf("settled twice: %+v", k.s.Opening())
		}
		mustSend(t, k.s, mustLease(t, k.s, "contracts"), mustEntry(t, k.s, "contracts", "d"))
	})
}

// A process that goes on settles what another left that ended between journal and ledger; it need not start again.
func TestAProcessThatGoesOnSettlesWhatAnotherLeft(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		goesOn := *k
		goesOn.open()
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		first := mustSend(t, k.s, lease, es[0])
		k.endBetween(lease, trade.Group{At: at, Settle: []trade.Settlement{created(first, "remote-a")}, Intents: []trade.Intent{intentOf(es[1])}})
		mustSend(t, goesOn.s, mustLease(t, goesOn.s, "contracts"), es[2])
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.InDoubt, "c": trade.Sending}
		if diff := cmp.Diff(want, statesOf(t, goesOn.s, "contracts")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		mustAddUp(t, goesOn.s, "contracts")
	})
}

// A commit that the ledger refuses leaves a record that never counts: the process that goes on names it, and one that starts later is not misled.
func TestARecordWhoseCommitWasRefusedIsVoid(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
	stop := errors.New("the disk is full")
	for range 3 {
		err := k.s.inTx(t.Context(), "testing", func(tx *tx) error {
			tx.noting(journal.Group, at).Intents = []journal.Intent{{Row: journal.Row{Job: "contracts", Key: "a"}, Attempt: newID(), Generation: 1, Payload: es[0].PayloadHash}}
			if err := tx.writeNote(); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	mustSend(t, k.s, lease, es[1])
	k.close()
	k.open()
	want := map[string]trade.State{"a": trade.Pending, "b": trade.Sending}
	if diff := cmp.Diff(want, statesOf(t, k.s, "contracts")); diff != "" || k.s.Opening() != (Opening{}) {
		t.Errorf("states (-want +got):\n%s\nopening %+v", diff, k.s.Opening())
	}
}

func TestF058_YesterdaysLedgerIsRefused(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	k.close()
	old := filepath.Join(t.TempDir(), "old.db")
	copyFile(t, k.o.DSN, old)
	k.open()
	k.send("b", 4)
	k.close()
	copyFile(t, old, k.o.DSN)
	text := wantCode(t, k.try(defaultTuning), CodeRolledBack)
	var e *Error
	if errors.As(k.try(defaultTuning), &e); e.Records != 7 || e.Rows != 4 || e.Since.IsZero() || !strings.Contains(text, "safrasync rebuild") {
		t.Errorf("error %+v: %s", e, text)
	}
	// Reading it is allowed: it is how people look at it.
	o := k.o
	o.ReadOnly = true
	mustOpen(t, o)
}

func TestF057_ADeletedOrEmptiedLedgerIsRefused(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	k.close()
	whole, err := os.ReadFile(k.o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(k.o.DSN); err != nil {
		t.Fatal(err)
	}
	text := wantCode(t, k.try(defaultTuning), CodeEmptied)
	if !strings.Contains(text, "3 rows were sent") {
		t.Errorf("the error says not how many rows: %s", text)
	}
	if _, err := os.Stat(k.o.DSN); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a ledger was made all the same: %v", err)
	}
	if err := os.WriteFile(k.o.DSN, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantCode(t, k.try(defaultTuning), CodeEmptied)
	// A fresh ledger that was made without looking at the journal does not help either.
	if err := os.Remove(k.o.DSN); err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{"-wal", "-shm"} {
		_ = os.Remove(k.o.DSN + rest)
	}
	o := k.o
	o.Journal = ""
	s := mustOpen(t, o)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, k.try(defaultTuning), CodeEmptied)
	if err := os.WriteFile(k.o.DSN, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	k.open()
}

func TestF057_AnEmptiedPostgresLedgerIsRefused(t *testing.T) {
	t.Parallel()
	k := keep(t, Options{Driver: Postgres, DSN: pgtest.Database(t)})
	k.send("a", 2)
	for _, query := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`} {
		if err := byHand(k.s, query); err != nil {
			t.Fatal(err)
		}
	}
	k.close()
	wantCode(t, k.try(defaultTuning), CodeEmptied)
}

func TestALostJournalIsRefused(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 2)
		dir := k.dir()
		k.close()
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		text := wantCode(t, k.try(defaultTuning), CodeJournalLost)
		if !strings.Contains(text, "rebuild --new-journal") {
			t.Errorf("the error names no way out: %s", text)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		k.open()
		k.send("b", 2)
		k.close()
		// F056: a disk that lied about a flush lost the journal's end.
		file := filepath.Join(dir, "0000000000000001.journal")
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		if err := os.WriteFile(file, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		wantCode(t, k.try(defaultTuning), CodeJournalLost)
		// Damage before the end.
		if err := os.WriteFile(file, []byte(strings.Replace(string(whole), "intents", "intentz", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := wantCode(t, k.try(defaultTuning), CodeJournal); !strings.Contains(text, file) {
			t.Errorf("damage is not named with its file: %s", text)
		}
	})
}

func TestF064_ACopyOfLedgerAndJournalIsRefused(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 2)
	k.close()

	// The whole machine was cloned, and got an id of its own.
	clone := defaultTuning
	clone.machine = func() string { return "another-machine" }
	here := defaultTuning
	if here.machine() == "" {
		here.machine = func() string { return "this-machine" }
		fresh := keepTuned(t, here)
		fresh.send("a", 2)
		fresh.close()
		wantCode(t, fresh.try(clone), CodeCopied)
	} else {
		wantCode(t, k.try(clone), CodeCopied)
	}

	// The file was copied to another place of the same host, with the same journal.
	second := *k
	second.o.DSN = filepath.Join(t.TempDir(), "copy.db")
	copyFile(t, k.o.DSN, second.o.DSN)
	wantCode(t, second.try(defaultTuning), CodeCopied)
	k.open()
	k.send("b", 1)
	k.close()

	// It was moved: nothing stands where it was.
	if err := os.Rename(k.o.DSN, second.o.DSN); err != nil {
		t.Fatal(err)
	}
	second.open()
	second.send("c", 1)
	second.close()
	second.open()

	// Ledger and journal were copied, and both went on: the records have the same numbers and are not the same.
	second.close()
	third := second
	third.o.Journal, third.o.DSN = filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "third.db")
	if err := os.CopyFS(third.o.Journal, os.DirFS(second.o.Journal)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(second.o.DSN, third.o.DSN); err != nil {
		t.Fatal(err)
	}
	copyFile(t, third.o.DSN, second.o.DSN)
	second.open()
	second.send("d", 2)
	second.close()
	if err := os.Remove(second.o.DSN); err != nil {
		t.Fatal(err)
	}
	third.open()
	third.send("e", 1)
	third.close()
	third.o.Journal = second.o.Journal
	wantCode(t, third.try(defaultTuning), CodeCopied)
}

func keepTuned(t *testing.T, tune tuning) *kept {
	t.Helper()
	o := backends[0].open(t)
	o.Version, o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
	k := &kept{t: t, o: o}
	if err := k.try(tune); err != nil {
		t.Fatal(err)
	}
	return k
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
		wantCode(t, err, CodeJournal)
		if got := mustEntry(t, s, "contracts", "b").State; got != trade.Pending {
			t.Errorf("the entry is %s", got)
		}
	})
}

func TestF058_AnotherHostNoticesAnOlderPostgresLedger(t *testing.T) {
	t.Parallel()
	a := keep(t, Options{Driver: Postgres, DSN: pgtest.Database(t)})
	b := *a
	b.o.Journal = filepath.Join(t.TempDir(), "journal of another host")
	b.open()
	a.send("a", 2)
	b.send("b", 2)
	a.send("c", 2)
	a.close()
	b.close()
	// The ledger forgets what b sent, as a backup from before would.
	if err := byHand(mustOpen(t, Options{Driver: Postgres, DSN: a.o.DSN}), `UPDATE journal SET seq = seq - 1 WHERE path LIKE '%another host%'`); err != nil {
		t.Fatal(err)
	}
	wantCode(t, a.try(defaultTuning), CodeRolledBack)
}

func TestF060_AJournalOnANetworkFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	o := backends[0].open(t)
	o.Journal = filepath.Join(t.TempDir(), "a", "b")
	tune := defaultTuning
	tune.fsMagic = func(path string) (int64, bool) {
		if path == filepath.Dir(o.DSN) || path == o.DSN {
			return 0xEF53, true
		}
		return 0x6969, filepath.Base(path) != "b" && filepath.Base(path) != "a"
	}
	_, err := open(t.Context(), o, tune)
	wantCode(t, err, CodeNetworkFS)
}

// F053: the ledger's disk is full when the answer comes: the journal has it, and the next start stores it.
func TestF053_AnAnswerThatTheLedgerHasNoRoomForIsInTheJournal(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	a := mustSend(t, k.s, lease, mustRecord(t, k.s, lease, newEntry("a"))[0])
	var pages int
	if err := k.s.write.Get(&pages, `PRAGMA page_count`); err != nil {
		t.Fatal(err)
	}
	if err := k.s.write.Get(&pages, `PRAGMA max_page_count = `+strconv.Itoa(pages)); err != nil {
		t.Fatal(err)
	}
	a.AnswerBody = strings.Repeat("x", 100_000)
	for range 3 { // as the engine tries again
		_, err := k.s.Commit(t.Context(), lease, trade.Group{At: at, Settle: []trade.Settlement{created(a, "remote-a")}})
		wantCode(t, err, CodeFull)
	}
	if err := k.s.write.Get(&pages, `PRAGMA max_page_count = 1000000`); err != nil {
		t.Fatal(err)
	}
	k.close()
	k.open()
	if e := mustEntry(t, k.s, "contracts", "a"); e.State != trade.Accepted || e.RemoteID != "remote-a" || k.s.Opening().Settled != 1 {
		t.Errorf("entry %+v, opening %+v", e, k.s.Opening())
	}
}

func TestF061_OneRunServesASQLiteLedger(t *testing.T) {
	k := sqliteKept(t)
	release, err := k.s.Serve()
	if err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, k.o) // other commands work beside it
	_, err = second.Serve()
	if text := wantCode(t, err, CodeServed); !strings.Contains(text, fmt.Sprint(os.Getpid())) {
		t.Errorf("the error does not name the process: %s", text)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
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
	if err := (<-won)(); err != nil {
		t.Fatal(err)
	}
}

// F068: a clock that steps back changes no order: records and attempts are numbered.
func TestF068_AClockThatStepsBackChangesNoOrder(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	e := mustRecord(t, k.s, lease, newEntry("a"))[0]
	first := mustSend(t, k.s, lease, e)
	earlier := at.Add(-24 * time.Hour)
	notSent := first
	notSent.Outcome, notSent.FinishedAt = trade.OutcomeNotSent, earlier
	mustCommit(t, k.s, lease, trade.Group{At: earlier, Settle: []trade.Settlement{{Attempt: notSent, State: trade.Pending}}})
	in := intentOf(mustEntry(t, k.s, "contracts", "a"))
	in.Attempt.StartedAt = earlier
	mustCommit(t, k.s, lease, trade.Group{At: earlier, Intents: []trade.Intent{in}})
	attempts, err := k.s.Attempts(t.Context(), e.ID)
	if err != nil || len(attempts) != 2 || attempts[0].No != 1 || attempts[1].ID != in.Attempt.ID || !attempts[1].StartedAt.Equal(earlier) {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
	k.close()
	k.open()
	removeLedger(t, k.o.DSN)
	k.close()
	if _, err := Rebuild(t.Context(), k.o, true, rebuildAct); err != nil {
		t.Fatal(err)
	}
	k.open()
	if got := mustEntry(t, k.s, "contracts", "a"); got.State != trade.InDoubt {
		t.Errorf("the entry whose last attempt is open is %s", got.State)
	}
}

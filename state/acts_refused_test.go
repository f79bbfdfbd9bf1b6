package state

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// says checks that an operation fails and tells so.
func says(t testing.TB, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Error("nothing was said")
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v; want %q in it", err, text)
		}
	}
}

func TestActsThatNoCorrectCallerOrdersAreRefused(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		before := content(t, s)
		neither, twice := dismissal(e), dismissal(e)
		neither.Update = nil
		_, err := s.Act(t.Context(), []trade.Act{neither})
		says(t, err, "an act is on one row or on one job")
		_, err = s.Act(t.Context(), []trade.Act{twice, twice})
		says(t, err, "one row can be in one act only")
		_, _, err = s.ImportReferences(t.Context(), "", map[string]string{"1": "x"}, nil, anAct("x"))
		says(t, err, "a reference needs a kind")
		if diff := cmp.Diff(before, content(t, s)); diff != "" {
			t.Errorf("something was stored (-before +after):\n%s", diff)
		}
	})
}

// What cannot be written as JSON, such as a time in the year 10000, is refused before anything is
// stored.
func TestWhatHasNoTextIsNotStored(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		never := unwritable
		before := content(t, s)
		says(t, s.StartRun(t.Context(), trade.RunReport{ID: sqldb.NewID(), Job: "contracts", StartedAt: never}),
			"recording the start of a run")
		says(t, s.SetJobStatus(t.Context(),
			trade.JobStatus{Job: "contracts", State: trade.Stopped, Stop: &trade.Stop{Until: never}}))
		if diff := cmp.Diff(before, content(t, s)); diff != "" {
			t.Errorf("something was stored (-before +after):\n%s", diff)
		}
	})
}

var unwritable = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)

// F052: a reading that its caller gives up is told as that, and not as a fault of the ledger.
func TestAReadingThatIsGivenUp(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Runs(ctx, "contracts", 1)
		var fault *sqldb.Error
		if !errors.Is(err, context.Canceled) || errors.As(err, &fault) {
			t.Errorf("%v", err)
		}
	})
}

// F049: rows that something else keeps from being changed are noticed, and nothing of the group is
// stored.
func TestRowsThatDoNotChangeAreNoticed(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	lease := mustLease(t, k.s, "contracts")
	a := mustSend(t, k.s, lease, mustRecord(t, k.s, lease, newEntry("a"))[0])
	mustExec(t, k.s, `CREATE TRIGGER foreign_hand BEFORE UPDATE ON entry BEGIN SELECT RAISE(IGNORE); END`)
	_, err := k.s.Commit(t.Context(), lease, trade.Group{At: at, Settle: []trade.Settlement{created(a, "remote-a")}})
	says(t, err, "0 rows of entry were written, expected 1")
	mustExec(t, k.s, `DROP TRIGGER foreign_hand`)
	mustSettle(t, k.s, lease, created(a, "remote-a"))
	if e := mustEntry(t, k.s, "contracts", "a"); e.State != trade.Accepted || e.RemoteID != "remote-a" {
		t.Errorf("%+v", e)
	}
	mustAddUp(t, k.s, "contracts")
}

// A transaction that the server ends for a deadlock, or because another was before it, is run
// again, and stored once.
func TestADeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []pqerror.Code{"40001", "40P01"} {
		f := frail(t, backends[1], &breaker{with: &pq.Error{Code: code}})
		for at := 1; ; at++ {
			f.b.arm(at, false)
			err := f.s.AppendAudit(t.Context(), anAct("x"))
			hit := f.b.disarm()
			if err != nil && hit != "connect" && hit != "COMMIT" && hit != "ping" {
				t.Errorf("%s: %s at %s: %v", code, hit, hit, err)
			}
			if all, listErr := f.s.Audit(t.Context(), 0); listErr != nil || err == nil && len(all) != at {
				t.Fatalf("%s, call %d (%s): %d acts, %v", code, at, hit, len(all), listErr)
			} else if err != nil && len(all) != at-1 {
				t.Fatalf("%s, call %d (%s): %d acts though it failed: %v", code, at, hit, len(all), err)
			} else if err != nil {
				must.Do(t, f.s.AppendAudit(t.Context(), anAct("x")))
			}
			if hit == "" {
				break
			}
		}
	}
}

// F050: the answer of a commit is lost, and then a call fails of those that look whether it is on
// disk: who asked is told that it is stored, or that nobody knows, never that it is not.
func TestACommitWhoseAnswerIsLostWhileTheLookFails(t *testing.T) {
	onEach(t, func(t *testing.T, backend backend) {
		f := frail(t, backend, &breaker{}, func(tune *sqldb.Tuning) { tune.Settle = 5 * time.Second })
		for at := 1; ; at++ {
			hits := ""
			for way := range 4 {
				damaged := way%2 == 1
				f.b.null, f.b.dead = true, way/2 == 1
				f.b.afterLoss(at, damaged)
				name := sqldb.NewID()
				err := f.s.AppendAudit(t.Context(), anAct(name))
				hit := f.b.disarm() + f.b.mends()
				hits += hit
				if err != nil && !errors.Is(err, trade.ErrUncertain) {
					t.Fatalf("call %d (%s): %v", at, hit, err)
				}
				all, listErr := f.s.Audit(t.Context(), 1)
				if listErr != nil || len(all) != 1 || all[0].Target != name {
					t.Fatalf("call %d (%s): the act is not there: %+v, %v", at, hit, all, listErr)
				}
				if hit == "" && err != nil {
					t.Errorf("it is stored, and that can be seen: %v", err)
				}
			}
			if hits == "" {
				return
			}
		}
	})
}

// F048: while somebody reads an older state, what was found cannot be flushed: then nobody says
// that it is on disk.
func TestALookThatAReaderKeepsFromFlushing(t *testing.T) {
	t.Parallel()
	f := frail(t, backends[0], &breaker{}, func(tune *sqldb.Tuning) {
		tune.Busy, tune.Settle = 50*time.Millisecond, 5*time.Second
	})
	db := sqldb.ConnectSQLite(sqldb.DefaultTuning, sqldb.SqliteDSN(f.o.DSN, "mode=ro"), 1)
	defer func() { must.Do(t, db.Close()) }()
	reads, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	must.Do(t, reads.Get(&n, `SELECT COUNT(*) FROM audit`))
	f.b.loses = true
	if err = f.s.AppendAudit(t.Context(), anAct("x")); !errors.Is(err, trade.ErrUncertain) {
		t.Errorf("%v", err)
	}
	must.Do(t, reads.Rollback())
	f.b.loses = true
	if err := f.s.AppendAudit(t.Context(), anAct("y")); err != nil {
		t.Errorf("without the reader: %v", err)
	}
}

// F057: a ledger that has rows and no name of its own any more is not used, in either way of
// opening it.
func TestALedgerWithoutItsNameIsRefused(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.o.Journal = ""
	k.sendAll("a", 1)
	mustExec(t, k.s, `DELETE FROM ledger`)
	k.close()
	o := k.o
	o.ReadOnly = true
	_, err := Open(t.Context(), o)
	says(t, err, "the ledger has lost its own identity", "restore the backup")
	b := &breaker{}
	for at := 1; ; at++ {
		b.arm(at, false)
		_, err := open(t.Context(), o, b.tuning())
		if err == nil {
			t.Fatal("it was opened")
		}
		if b.disarm() == "" {
			return
		}
	}
}

func TestAReaderOfAnOlderLedgerIsToldWhatToDo(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		s.db.ReadOnly = true
		says(t, s.db.JudgeSchema(1, 2, sqldb.OpenOptions{Begin: true}), "this program needs", "safrasync run")
	})
}

// F049, F056: a copy in which rows refer to none is no backup, and one without a row is not restored.
func TestACopyThatIsNotInOrder(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	empty := filepath.Join(t.TempDir(), "empty.db")
	must.Do(t, k.s.Backup(t.Context(), empty))
	k.sendAll("a", 2)
	k.close()
	k.byHand(`DROP TRIGGER sent_identity`, `UPDATE sent SET origin = origin + 999`)
	k.open()
	copied := filepath.Join(t.TempDir(), "copy.db")
	says(t, k.s.Backup(t.Context(), copied), "the copy is not in order", "doctor --full")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(copied), "*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	k.close()
	_, err := Restore(t.Context(), k.o, empty, restoreAct)
	says(t, err, "it has no rows")
	_, err = Restore(t.Context(), sqldb.OpenOptions{Driver: sqldb.SQLite}, empty, restoreAct)
	says(t, err, "set state.dsn")
}

// F057, F058: a folder that holds the journal of another ledger, and one whose journal was put out
// of use, are no journal of this one.
func TestAJournalThatIsNotTheLedgersOwnIsRefused(t *testing.T) {
	t.Parallel()
	k, other := keep(t, backends[0].open(t)), keep(t, backends[0].open(t))
	k.sendAll("a", 1)
	other.sendAll("b", 1)
	k.close()
	other.close()
	dir, own := k.dir(), k.dir()+".own"
	must.Do(t, os.Rename(dir, own), os.CopyFS(dir, os.DirFS(other.dir())))
	says(t, k.try(sqldb.DefaultTuning), "belongs to ledger "+other.s.LedgerID())
	// such a one may go
	if plan, err := NewJournal(t.Context(), k.o, nil, false, rebuildAct); err != nil || plan.Aside != dir {
		t.Errorf("%+v, %v", plan, err)
	}
	must.Do(t, os.RemoveAll(dir), os.Rename(own, dir))
	k.byHand(`UPDATE journal SET retired_at = 1`)
	says(t, k.try(sqldb.DefaultTuning), "the one that stands there is another")
	k.byHand(`UPDATE journal SET retired_at = NULL`)
	k.open()
	says(t, k.s.db.JournalFault(journal.ErrBehind), sqldb.NewJournalHint)
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		says(t, k.s.db.JournalFault(err), "free space on the disk of the journal")
	}
}

func TestWhereANewJournalOrARebuildingIsRefused(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.sendAll("a", 1)
	o := k.o
	o.Journal = ""
	_, err := NewJournal(t.Context(), o, nil, false, rebuildAct)
	says(t, err, "no folder for a journal", "set state.journal")
	tune := sqldb.DefaultTuning
	tune.FsMagic = func(path string) (int64, bool) {
		if strings.HasPrefix(path, filepath.Dir(k.o.Journal)) && !strings.HasPrefix(path, k.o.DSN) {
			return 0x6969, true // NFS
		}
		return local().FsMagic(path)
	}
	_, err = newJournal(t.Context(), k.o, tune, nil, false, rebuildAct)
	says(t, err, "network file system")
	nonsense := sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: "nonsense", Journal: k.o.Journal}
	_, err = Rebuild(t.Context(), nonsense, nil, false, rebuildAct)
	says(t, err)
	// Somebody's lease that cannot be read keeps a rebuilding from it.
	mustLease(t, k.s, "contracts")
	mustExec(t, k.s, `UPDATE job_lease SET owner = '{"damaged'`)
	_, err = Rebuild(t.Context(), k.o, nil, true, rebuildAct)
	says(t, err, "row contracts is damaged in column owner")
}

// F056: a damaged journal is what a new one is for; one that knows nothing of rows what the ledger
// does not may go too.
func TestANewJournalInsteadOfOneThatSaysNothingMore(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.sendAll("a", 2)
	before := k.o.DSN + ".before"
	must.Do(t, k.s.Backup(t.Context(), before))
	k.beginAgain() // its records are of what the ledger has
	k.close()
	removeLedger(t, k.o.DSN)
	copyFile(t, before, k.o.DSN)
	must.Get(NewJournal(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	if status := must.Get(k.s.JobStatus(t.Context(), "contracts"))(t); status.State != trade.Paused ||
		status.Stop.Code != "brake_new_journal" || status.Stop.Brake.Until.IsZero() {
		t.Errorf("the job is %+v", status)
	}
	mustExec(t, k.s, `DELETE FROM job_status`) // as if a person had released it
	k.sendAll("b", 1)
	dir := k.dir()
	k.close()
	segments, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	must.Do(t, os.WriteFile(segments[0], []byte("damaged\n"), 0o600))
	says(t, k.try(sqldb.DefaultTuning), "damaged")
	must.Get(NewJournal(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	want := map[string]trade.State{"a0": trade.Accepted, "a1": trade.Accepted, "b0": trade.Accepted}
	wantStates(t, k.s, "contracts", want)
	mustAddUp(t, k.s, "contracts")
}

// F052, F053: the ledger takes no answer and its journal neither: both are told.
func TestAnswersThatNobodyCanKeep(t *testing.T) {
	t.Parallel()
	f := frail(t, backends[0], &breaker{})
	lease := mustLease(t, f.s, "contracts")
	a := mustSend(t, f.s, lease, mustRecord(t, f.s, lease, newEntry("a"))[0])
	lock := filepath.Join(f.dir(), "lock")
	must.Do(t, os.Remove(lock), os.Mkdir(lock, 0o700))
	f.b.arm(1, true)
	_, err := f.s.Commit(t.Context(), lease, trade.Group{At: at, Settle: []trade.Settlement{created(a, "remote-a")}})
	f.b.disarm()
	says(t, err, errBroken.Error(), "is a directory")
	must.Do(t, os.Remove(lock))
	mustSettle(t, f.s, lease, created(a, "remote-a"))
}

// F049: what the retention would shorten and cannot read stays, and is named.
func TestARetentionThatMeetsADamagedRow(t *testing.T) {
	t.Parallel()
	for column, value := range map[string]string{
		"cells": `[1]`, "now_cells": `[1]`, "ack_cells": `[1]`,
		"warnings": `{}`, "error": `[]`,
	} {
		k := keep(t, backends[0].open(t))
		k.old("x")
		k.close()
		table := "body"
		if column == "error" {
			table = "entry"
		}
		k.byHand(`DROP TRIGGER IF EXISTS none`, `UPDATE `+table+` SET `+column+` = '`+value+`'`)
		k.open()
		before := content(t, k.s)
		keep := keepAll
		keep.Kinds = []string{KeptBodies}
		_, err := k.s.Retain(t.Context(), keep, later, byRetention)
		says(t, err, "damaged in column "+column, "restore the backup")
		after := content(t, k.s)
		for row := range before {
			if (strings.HasPrefix(row, "entry") || strings.HasPrefix(row, "body")) && after[row] == 0 {
				t.Errorf("%s: a row changed: %s", column, row)
			}
		}
	}
}

// A quick check that the database itself cannot end says that the file is damaged.
func TestACheckThatTheDatabaseCannotEnd(t *testing.T) {
	t.Parallel()
	// What SQLite says of a file with a sound head and nothing after it.
	k := keep(t, backends[0].open(t))
	k.o.Journal = ""
	k.close()
	text := must.Get(os.ReadFile(k.o.DSN))(t)
	clear(text[100:])
	must.Do(t, os.WriteFile(k.o.DSN, text, 0o600))
	db := sqldb.ConnectSQLite(sqldb.DefaultTuning, sqldb.SqliteDSN(k.o.DSN, "mode=ro"), 1)
	var n int
	damage := db.Get(&n, `SELECT COUNT(*) FROM entry`)
	var lite *sqlite.Error
	if closeErr := db.Close(); closeErr != nil || !errors.As(damage, &lite) {
		t.Fatal(damage, closeErr)
	}
	f := frail(t, backends[0], &breaker{with: damage})
	found := false
	for at := 1; ; at++ {
		f.b.arm(at, false)
		all, err := f.s.Diagnose(t.Context(), f.o.Journal, true, 0)
		hit := f.b.disarm()
		for _, d := range all {
			found = found || err == nil && strings.Contains(hit, "_check") && d.Problem == ProblemDamaged && !d.OK
		}
		if hit == "" {
			break
		}
	}
	if !found {
		t.Error("it does not count as damaged")
	}
}

// What the system does not say is empty, not an error.
func TestWhatTheSystemDoesNotSay(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	if got := sqldb.FirstLine(nowhere); got != "" {
		t.Errorf("the first line of nothing: %q", got)
	}
	if _, ok := sqldb.FreeBytes(nowhere); ok {
		t.Error("there is room where nothing is")
	}
	if n, err := fileSize(nowhere); n != 0 || err != nil {
		t.Errorf("a file that is not there has %d bytes, %v", n, err)
	}
	if n := walSize(nowhere); n != 0 {
		t.Errorf("a log that is not there has %d bytes", n)
	}
	if n, err := folderSize(nowhere); n != 0 || err != nil {
		t.Errorf("a folder that is not there has %d bytes, %v", n, err)
	}
	var b breaker
	for at := 1; ; at += 9 {
		b.arm(at, false)
		s, err := openMemory(t.Context(), b.tuning())
		hit := b.disarm()
		if err == nil { // a migration that fails is tried again
			err = errors.Join(s.AppendAudit(t.Context(), anAct("x")), s.Close())
		}
		if (hit == "") && err != nil || err != nil && !errors.Is(err, errBroken) {
			t.Errorf("call %d (%s): %v", at, hit, err)
		}
		if hit == "" {
			break
		}
	}
}

// A connection that is closed already says so, wherever it is used next.
func TestAConnectionThatIsClosed(t *testing.T) {
	t.Parallel()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = listener.Close() }()
	conn := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
	raw, err := conn.(*net.TCPConn).SyscallConn()
	must.Do(t, err, conn.Close())
	if err := sqldb.BoundUnacknowledged("tcp4", "", raw); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// F052, F054: a process that goes on, and whose database fails at any call while it settles what
// another left between journal and ledger, says so, and settles it the next time.
func TestEveryCallFailsOnceWhileAProcessSettlesWhatAnotherLeft(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		b := &breaker{}
		k := keep(t, backends[0].open(t))
		goesOn := *k
		must.Do(t, goesOn.try(b.tuning()))
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		first := mustSend(t, k.s, lease, es[0])
		k.endBetween(lease, trade.Group{
			At: theirs, Settle: []trade.Settlement{created(first, "remote-a")},
			Intents: []trade.Intent{intentOf(es[1])},
		})
		lease = mustLease(t, goesOn.s, "contracts")
		in := trade.Group{At: theirs, Intents: []trade.Intent{intentOf(es[2])}}
		b.arm(at, false)
		_, err := goesOn.s.Commit(t.Context(), lease, in)
		hit := b.disarm()
		if err != nil {
			if hit == "" {
				t.Fatal(err)
			}
			if _, err := goesOn.s.Commit(t.Context(), lease, in); err != nil {
				t.Fatalf("the next time after call %d failed (%s): %v", at, hit, err)
			}
		}
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.InDoubt, "c": trade.Sending}
		if diff := cmp.Diff(want, statesOf(t, goesOn.s, "contracts")); diff != "" {
			t.Errorf("after call %d failed (%s): states (-want +got):\n%s", at, hit, diff)
		}
		mustAddUp(t, goesOn.s, "contracts")
		goesOn.close()
		if hit == "" {
			return
		}
		if !long {
			at += 3
		}
	}
}

var theirs = at

// F049: a damaged file that another process has open stays as it is.
func TestADamagedLedgerThatSomebodyHasOpenIsNotRebuilt(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.sendAll("a", 1)
	k.close()
	must.Do(t, os.WriteFile(k.o.DSN, []byte(strings.Repeat("damaged ", 1000)), 0o600))
	f, err := os.Open(k.o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("sleep", "600")
	holder.Stdin = f
	must.Do(t, holder.Start(), f.Close())
	_, err = Rebuild(t.Context(), k.o, nil, true, rebuildAct)
	says(t, err, strconv.Itoa(holder.Process.Pid))
	must.Do(t, holder.Process.Kill())
	_ = holder.Wait() // killed
	if text, err := os.ReadFile(k.o.DSN); err != nil || !strings.HasPrefix(string(text), "damaged") {
		t.Errorf("the file changed: %v", err)
	}
	if plan, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct); err != nil || plan.Damaged == "" {
		t.Fatalf("%+v, %v", plan, err)
	}
	k.open()
	if e := mustEntry(t, k.s, "contracts", "a0"); e.State != trade.Accepted || e.RemoteID != "remote-a0" {
		t.Errorf("%+v", e)
	}
}

// F049: a pause that cannot be read keeps the journal from beginning again: it would forget a
// decision. Rows that a rebuilding cannot add keep it from ending.
func TestWhatCannotBeTakenUpKeepsTheJournal(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.sendAll("a", 2)
	first := k.firstRecord()
	mustExec(t, k.s,
		`INSERT INTO job_status (job, state, stop, since) VALUES ('contracts', 'paused', '[]', 1)`)
	says(t, beginAgain(t.Context(), k.s))
	if got := k.firstRecord(); got != first {
		t.Errorf("the journal begins with %d, and began with %d", got, first)
	}
	mustExec(t, k.s, `DELETE FROM job_status`)
	k.beginAgain()
	k.close()
	removeLedger(t, k.o.DSN)
	s := mustOpen(t, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: k.o.DSN, Version: "1.0.0-test"})
	mustExec(t, s, `CREATE TRIGGER foreign_hand BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END`)
	must.Do(t, s.Close())
	_, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct)
	says(t, err, "2 rows of job contracts came into the ledger meanwhile")
	k.byHand(`DROP TRIGGER foreign_hand`)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	want := map[string]trade.State{"a0": trade.Accepted, "a1": trade.Accepted}
	wantStates(t, k.s, "contracts", want)
}

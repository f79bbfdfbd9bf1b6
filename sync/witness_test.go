package sync_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// witnessedBench is a bench with a witness of its own: a folder, or a database.
func witnessedBench(t *testing.T, db database) *bench {
	t.Helper()
	b := newBenchOn(t, db, sandbox.Options{})
	b.brakes = run.Brakes{Absence: run.Absence}
	b.parts.Witness = witnessOn(t, db)
	b.restarts()
	return b
}

func witnessOn(t *testing.T, db database) string {
	t.Helper()
	if db.Ledger == state.Postgres {
		return pgtest.Database(t)
	}
	return t.TempDir()
}

// witnessNow copies what the witness has; the returned function puts that back.
func (b *bench) witnessNow() (putBack func()) {
	b.t.Helper()
	if state.IsFolder(b.parts.Witness) {
		copied := b.t.TempDir()
		must.Do(b.t, os.CopyFS(copied, os.DirFS(b.parts.Witness)))
		return func() {
			for _, file := range must.Get(filepath.Glob(filepath.Join(b.parts.Witness, "*")))(b.t) {
				must.Do(b.t, os.Remove(file))
			}
			must.Do(b.t, os.CopyFS(b.parts.Witness, os.DirFS(copied)))
		}
	}
	inWitness := func(statements string) {
		db := must.Get(sqlx.Open("postgres", b.parts.Witness))(b.t)
		must.Get(db.Exec(statements))(b.t)
		must.Do(b.t, db.Close())
	}
	inWitness(`DROP TABLE IF EXISTS witness_copy; CREATE TABLE witness_copy AS SELECT * FROM safrasync_witness`)
	return func() {
		inWitness(`DELETE FROM safrasync_witness; INSERT INTO safrasync_witness SELECT * FROM witness_copy`)
	}
}

// firstPost makes the next request that leaves call fn before.
func (b *bench) firstPost(fn func()) {
	var once gosync.Once
	b.posting = func(ctx context.Context, submit submission) (apiclient.Answer, error) {
		once.Do(fn)
		return submit(ctx)
	}
}

// oldCopy opens the ledger and wants it to be refused.
func (b *bench) oldCopy(what string) {
	b.t.Helper()
	b.refused(what, state.CodeOldCopy)
}

// refused opens the ledger and wants that to be refused, with a code.
func (b *bench) refused(what, code string) {
	b.t.Helper()
	ledger, err := state.Open(b.t.Context(), b.options())
	var fault *state.Error
	if !errors.As(err, &fault) || fault.Code != code {
		b.t.Errorf("%s: opened as %v, %v", what, ledger, err)
	}
	if ledger != nil {
		must.Do(b.t, ledger.Close())
	}
}

// An image of the whole machine is put back, while ERP and platform went on: ledger and journal fit
// each other. The newest of what the witness has was written before the first request left that the
// image does not know, so no image is too young.
func TestNoImageIsTooYoungForTheWitness(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contract(1)
		b.passes()
		step := 3 // so that each age has one group, and two
		if long {
			step = 1
		}
		for i := 0; i < 20; i += step {
			image := b.disk()
			// an age from nothing to days, and one or more groups
			b.clock.advance(time.Duration(i*i*i) * time.Minute)
			var atFirst func()
			b.firstPost(func() { atFirst = b.witnessNow() })
			for n := range 1 + i%2 {
				b.contract(10 + 10*i + n)
			}
			made, stops := b.passes()
			if made != 1+i%2 || len(stops) > 0 {
				t.Fatalf("the machine goes on: %d made, %v", made, stops)
			}
			newer := b.disk()
			must.Do(t, b.ledger.Close())
			latest := b.witnessNow()
			image()
			b.oldCopy("an image")
			atFirst() // as if the machine had died with the first request on its way
			b.oldCopy("an image of a moment before")
			latest()
			newer()
			b.restarts()
			b.makes(b.passes, 0, nil)
		}
		b.once()
	})
}

// A witness that does not answer: what the ERP has is recorded, and nothing is sent, until it answers
// or a person releases.
func TestAWitnessThatCannotBeReadIsAwaited(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contract(1)
		b.passes()
		back := b.witnessAway()
		b.restarts()
		b.contract(2)
		for range 2 {
			b.makes(b.passes, 0, map[string]string{"contracts": "witness"})
		}
		if e := b.entry(2); e.State != trade.Pending {
			t.Errorf("what the ERP has is not recorded: %s", e.State)
		}
		back()
		b.makes(b.passes, 1, nil)

		b.witnessAway()
		b.contract(3)
		b.makes(b.passes, 1, nil)
		b.restarts()
		b.contract(4)
		if made, _ := b.passes(); made != 0 {
			t.Fatalf("another process: %d made", made)
		}
		plan := must.Get(b.acts().Release(t.Context(), "contracts"))(t)
		if !plan.Unchecked() || plan.Release.Stop == nil {
			t.Errorf("a release without a look at the platform: %+v", plan.Release)
		}
		b.release("contracts")
		b.makes(b.passes, 1, nil)
		b.restarts() // the machine has not started since
		b.contract(5)
		b.makes(b.passes, 1, nil)
		b.once()
	})
}

// A release without the witness ends when the witness was read. The ledger's folder of a later day, put
// back while the witness is down again, does not have it.
func TestAReleaseEndsWhenTheWitnessIsBack(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contract(1)
		b.passes()
		back := b.witnessAway()
		b.restarts()
		b.contract(2)
		b.passes()
		b.release("contracts")
		b.makes(b.passes, 1, nil)
		back()
		b.restarts()
		b.contract(3)
		b.makes(b.passes, 1, nil)
		image := b.disk()
		for n := range 9 {
			b.contract(10 + n)
		}
		b.passes()
		must.Do(t, b.ledger.Close())
		image()
		b.witnessAway()
		b.restarts()
		b.makes(b.passes, 0, map[string]string{"contracts": "witness"})
		b.once()
	})
}

// A release holds until the machine starts again. On a server it is of the machine where it was given.
func TestAReleaseIsOfOneStartOfOneMachine(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		for _, other := range []string{"boot", "host"} {
			if other == "host" && db.Ledger == state.SQLite { // which is on one
				continue
			}
			b := witnessedBench(t, db)
			b.contract(1)
			b.passes()
			b.witnessAway()
			b.restarts()
			b.contract(2)
			b.passes()
			b.release("contracts")
			was := state.Self().Host
			if other == "boot" {
				was = state.Self().Boot
			}
			ledger := must.Get(sqlx.Open(db.Ledger, b.parts.LedgerDSN))(t)
			changed := must.Get(ledger.Exec(ledger.Rebind(`UPDATE task SET name = replace(name, ?, 'another')
				WHERE name LIKE 'witness released%'`), was))(t)
			if n := must.Get(changed.RowsAffected())(t); n != 1 {
				t.Fatalf("%d releases", n)
			}
			must.Do(t, ledger.Close())
			b.makes(b.passes, 0, map[string]string{"contracts": "witness"})
		}
	})
}

// A ledger is copied into another database and goes on there. An image of the time before, whose
// configuration names the old one, is refused.
func TestAnImageOfBeforeALedgerWasMovedIsRefused(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contract(1)
		b.passes()
		image := b.disk()
		must.Do(t, b.ledger.Close())
		old := b.options()
		b.fresh()
		must.Get(state.Move(t.Context(), old, b.options(), true, trade.AuditRecord{
			At: time.Now().UTC(), Who: maria.Name, Act: "state copy", Reason: maria.Reason,
		}))(t)
		b.restarts()
		b.contract(2)
		b.makes(b.passes, 1, nil)
		must.Do(t, b.ledger.Close())
		moved := b.parts.LedgerDSN
		b.parts.LedgerDSN = old.DSN
		image()
		b.oldCopy("the old ledger")
		b.parts.LedgerDSN = moved
	})
}

// A ledger whose witness cannot be written is not moved, and goes on where it is.
func TestALedgerIsNotMovedWithoutItsWitness(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contract(1)
		b.passes()
		must.Do(t, b.ledger.Close())
		back := b.witnessAway()
		old := b.options()
		b.fresh()
		_, err := state.Move(t.Context(), old, b.options(), true, trade.AuditRecord{
			At: time.Now().UTC(), Who: maria.Name, Act: "state copy", Reason: maria.Reason,
		})
		var fault *state.Error
		if !errors.As(err, &fault) || fault.Code != "state-copy" {
			t.Errorf("moved: %v", err)
		}
		back()
		b.parts.LedgerDSN = old.DSN
		b.restarts()
		b.contract(2)
		b.makes(b.passes, 1, nil)
	})
}

// witnessAway takes the witness away, as a server that is down does; back brings it back as it was.
func (b *bench) witnessAway() (back func()) {
	b.t.Helper()
	was := b.parts.Witness
	if state.IsFolder(was) {
		must.Do(b.t, os.Rename(was, was+".away"))
		return func() { must.Do(b.t, os.Rename(was+".away", was)) }
	}
	name := nameOf(b.t, was)
	b.server("ALTER DATABASE "+name+" ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
	return func() { b.server("ALTER DATABASE " + name + " ALLOW_CONNECTIONS true") }
}

func nameOf(t testing.TB, dsn string) (name string) {
	t.Helper()
	db := must.Get(sqlx.Open("postgres", dsn))(t)
	must.Do(t, db.Get(&name, `SELECT current_database()`))
	must.Do(t, db.Close())
	return name
}

// A folder without the line that it had is a disk that is not mounted, and no new witness. A check says
// so, and leaves nothing there.
func TestAWitnessWithoutItsLineIsNotMounted(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contract(1)
		b.passes()
		must.Do(t, b.ledger.Close())
		lines := b.witnessNow()
		b.emptyWitness()
		b.restarts()
		b.contract(2)
		b.makes(b.passes, 0, map[string]string{"contracts": "witness"})
		reader := b.reader()
		report := must.Get(reader.WitnessReport(t.Context()))(t)
		if report.Fault == nil || strings.Contains(report.Fault.Error(), "mounted") != state.IsFolder(b.parts.Witness) {
			t.Errorf("a check of an empty witness: %+v", report)
		}
		if w, err := reader.Witness(t.Context()); err != nil || w.Fault == nil {
			t.Errorf("the status of an empty witness: %+v, %v", w, err)
		}
		must.Do(t, reader.Close())
		lines()
		b.makes(b.passes, 1, nil)
	})
}

func (b *bench) emptyWitness() {
	b.t.Helper()
	if state.IsFolder(b.parts.Witness) {
		for _, file := range must.Get(filepath.Glob(filepath.Join(b.parts.Witness, "*")))(b.t) {
			must.Do(b.t, os.Remove(file))
		}
		return
	}
	db := must.Get(sqlx.Open("postgres", b.parts.Witness))(b.t)
	must.Get(db.Exec(`DELETE FROM safrasync_witness`))(b.t)
	must.Do(b.t, db.Close())
}

// Another copy of the ledger lives, and has written to the witness. This one finds that before its
// next request leaves.
func TestACopyThatLivesAtOnceIsNoticedBeforeARequestLeaves(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.parts.Witness = pgtest.Database(t)
		b.restarts()
		b.contract(1)
		b.passes()
		b.restarts() // so that the last line is written
		other := must.Get(sqlx.Open("postgres", b.parts.Witness))(t)
		t.Cleanup(func() { _ = other.Close() })
		must.Get(other.Exec(`UPDATE safrasync_witness SET seq = seq + 1, mark = 'ffffffff'`))(t)
		b.contract(2)
		for range 2 {
			b.makes(b.passes, 0, map[string]string{"contracts": "ledger"})
		}
		must.Do(t, b.ledger.Close())
		b.oldCopy("a start beside another copy")
	})
}

// A SQLite ledger in a container has another host's name each time. Its line is still its own: it is
// compared with the journal, also where that goes on after it.
func TestTheLineOfASQLiteLedgerIsItsOwnOnEveryHost(t *testing.T) {
	b := witnessedBench(t, databases[0])
	b.parts.Witness = pgtest.Database(t)
	b.restarts()
	b.contract(1)
	b.passes()
	must.Do(t, b.ledger.Close())
	other := must.Get(sqlx.Open("postgres", b.parts.Witness))(t)
	must.Get(other.Exec(`UPDATE safrasync_witness SET host = 'another container'`))(t)
	b.restarts()
	b.contract(2)
	b.makes(b.passes, 1, nil)
	must.Do(t, b.ledger.Close())
	must.Get(other.Exec(`UPDATE safrasync_witness SET host = 'a third one', seq = seq - 1, mark = 'ffffffff'`))(t)
	b.oldCopy("a copy whose journal goes on")
	must.Do(t, other.Close())
}

// Several processes of a machine share its journal and its line; each takes that of the others for
// what it is.
func TestProcessesOfOneMachineShareALine(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		other := machineOn(b, "other").bench
		for i := range 5 {
			b.contract(2*i + 1)
			b.makes(b.passes, 1, nil)
			b.contract(2*i + 2)
			other.makes(other.passes, 1, nil)
		}
		must.Do(t, other.ledger.Close())
		b.restarts()
		b.once()
	})
}

// Two machines share a ledger on a server, whose disk is put back while the one that has sent since
// is off. The other one has seen nothing of that.
func TestAMachineHearsFromTheWitnessWhatAnotherOneSent(t *testing.T) {
	t.Parallel()
	b := witnessedBench(t, databases[1])
	second := *b
	second.parts.Journal = filepath.Join(t.TempDir(), "journal")
	second.connect()
	second.contract(1)
	second.makes(second.passes, 1, nil)
	must.Do(t, second.ledger.Close())
	image := b.disk()
	b.contract(2)
	b.passes()
	must.Do(t, b.ledger.Close())
	image()
	second.refused("the second machine", state.CodeRolledBack)
	b.oldCopy("the first one")
}

// As before, but the other one runs already when the witness answers. It waits until the first one has
// brought back what it sent, also after a release, and then goes on by itself.
func TestAMachineGoesOnWhenAnotherOneHasBroughtBackWhatItSent(t *testing.T) {
	t.Parallel()
	b := witnessedBench(t, databases[1])
	second := *b
	second.parts.Journal = filepath.Join(t.TempDir(), "journal")
	second.connect()
	second.contract(1)
	second.passes()
	must.Do(t, second.ledger.Close())
	image := b.disk()
	b.contract(2)
	b.passes()
	must.Do(t, b.ledger.Close())
	journal := filepath.Join(b.dir, "journal")
	newer := filepath.Join(t.TempDir(), "newer")
	must.Do(t, os.Rename(journal, newer))
	image()
	must.Do(t, os.RemoveAll(journal))
	must.Do(t, os.Rename(newer, journal))
	back := b.witnessAway()
	second.restarts()
	second.contract(3)
	wants := func(code string) {
		t.Helper()
		second.makes(second.passes, 0, map[string]string{"contracts": code})
	}
	wants("witness")
	back()
	wants("ledger")
	second.release("contracts")
	wants("ledger")
	w := must.Get(second.ledger.Witness(t.Context()))(t)
	if fault := (*state.Error)(nil); !errors.As(w.Fault, &fault) || fault.Code != state.CodeRolledBack {
		t.Errorf("the witness tells %v", w.Fault)
	}
	audit := trade.AuditRecord{At: time.Now(), Who: "ana", Act: "rebuild", Reason: "test"}
	must.Get(state.Rebuild(t.Context(), b.options(), nil, true, audit))(t)
	second.makes(second.passes, 1, nil)
	second.once()
}

// A witness may be shared: that of another ledger says nothing about this one.
func TestTheWitnessOfAnotherLedgerSaysNothing(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := witnessedBench(t, db)
		b.contracts(5)
		b.passes()
		must.Do(t, b.ledger.Close())
		other := newBenchOn(t, db, sandbox.Options{})
		other.parts.Witness = b.parts.Witness
		other.restarts()
		other.contract(1)
		other.makes(other.passes, 1, nil)
		b.restarts()
		b.makes(b.passes, 0, nil)
	})
}

// restarts opens the ledger again, as the next process does.
func (b *bench) restarts() {
	b.t.Helper()
	must.Do(b.t, b.reopenLedger(b.options()))
}

// reader opens the ledger to look at it.
func (b *bench) reader() *state.Store {
	b.t.Helper()
	o := b.options()
	o.ReadOnly, o.Begin = true, false
	return must.Get(state.Open(b.t.Context(), o))(b.t)
}

// copied makes dated copies of the ledger of a bench; backup makes one more.
func copied(b *bench) (dir string, backup func()) {
	dir = b.t.TempDir()
	return dir, func() {
		b.t.Helper()
		at := b.clock.Now()
		_, _, _, err := b.ledger.BackupInto(b.t.Context(), dir, 5, at)
		must.Do(b.t, err)
		must.Do(b.t, b.ledger.BackupMade(b.t.Context(), at, dir))
		b.clock.advance(time.Minute)
	}
}

// Copies of the ledger are witnesses, too: a disk that was put back is older than the copies that were
// made since, and nothing is sent, nor is the old ledger copied among them, until a person has brought
// back what it lacks.
func TestADiskThatIsOlderThanACopyOfItsLedgerSendsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	_, backup := copied(b)
	b.contract(1)
	b.passes()
	backup()
	image := b.disk()
	b.contract(2)
	b.passes()
	b.restarts() // its own copy is no newer
	backup()
	must.Do(t, b.ledger.Close())
	image()
	b.oldCopy("a disk of before the last copy")

	seen := b.reader()
	_, err := seen.JournalReport(t.Context(), b.parts.Journal)
	wantOldCopy(t, "what check asks", err)
	file := newestIn(t, err)
	_, _, _, err = seen.BackupInto(t.Context(), filepath.Dir(file), 1, b.clock.Now())
	wantOldCopy(t, "a copy of the old ledger", err)
	must.Do(t, seen.Close())

	act := trade.AuditRecord{At: b.clock.Now(), Who: "ana", Act: "restore", Target: "ledger", Reason: "an old disk"}
	must.Get(state.Restore(t.Context(), b.options(), file, act))(t)
	must.Get(state.NewJournal(t.Context(), b.options(), []string{"contracts"}, true, act))(t)
	must.Do(t, b.reopenLedger(b.options()))
	if made, stops := b.passes(); made != 0 || stops["contracts"] != "brake_new_journal" {
		t.Errorf("after the copy was restored: %d made, %v", made, stops)
	}
	b.once()
}

// A disk of before a new journal was begun does not know the journal of its copies; one that went on
// while the copies were away has another history than they have.
func TestADiskOfAnotherHistoryThanItsCopiesIsRefused(t *testing.T) {
	t.Parallel()
	begun := func() (b *bench, dir string, backup, image func()) {
		b = newBench(t, sandbox.Options{})
		dir, backup = copied(b)
		b.contract(1)
		b.passes()
		backup()
		return b, dir, backup, b.disk()
	}
	b, _, backup, image := begun()
	act := trade.AuditRecord{At: b.clock.Now(), Who: "ana", Act: "rebuild", Target: "ledger", Reason: "lost"}
	must.Do(t, b.ledger.Close())
	must.Get(state.NewJournal(t.Context(), b.options(), []string{"contracts"}, true, act))(t)
	must.Do(t, b.reopenLedger(b.options()))
	backup()
	must.Do(t, b.ledger.Close())
	image()
	b.oldCopy("a disk of before the new journal")

	b, dir, backup, image := begun()
	b.contract(2)
	b.passes()
	backup()
	must.Do(t, b.ledger.Close())
	image()
	must.Do(t, os.Rename(dir, dir+".away"))
	b.restarts()
	for n := 3; n < 9; n++ {
		b.contract(n)
		b.passes()
	}
	must.Do(t, b.ledger.Close())
	must.Do(t, os.Rename(dir+".away", dir))
	_, err := state.Open(t.Context(), b.options())
	wantOldCopy(t, "a disk that went on without its copies", err)
	if strings.Contains(err.Error(), "witness") {
		t.Errorf("there is no witness: %v", err)
	}
	// What the error tells to do leads on, and no more is sent.
	must.Get(state.Restore(t.Context(), b.options(), newestIn(t, err), act))(t)
	must.Get(state.Rebuild(t.Context(), b.options(), []string{"contracts"}, true, act))(t)
	must.Get(state.NewJournal(t.Context(), b.options(), []string{"contracts"}, true, act))(t)
	must.Do(t, b.reopenLedger(b.options()))
	if made, stops := b.passes(); made != 0 || stops["contracts"] != "brake_new_journal" {
		t.Errorf("afterwards: %d made, %v", made, stops)
	}
}

// A copy of a ledger whose journal is lost may be all that is left of it. Copies that cannot be read
// do not hide the older ones.
func TestALedgerWithoutItsJournalIsCopied(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	dir, backup := copied(b)
	b.contract(1)
	b.passes()
	backup()
	image := b.disk()
	b.contract(2)
	b.passes()
	backup()
	must.Do(t, b.ledger.Close())
	image()
	copies := must.Get(filepath.Glob(filepath.Join(dir, "*.db")))(t)
	last := copies[len(copies)-1]
	later := strings.Replace(filepath.Base(last), "202", "203", 1)
	must.Do(t, os.WriteFile(filepath.Join(dir, later), make([]byte, 8192), 0o600))
	seen := b.reader()
	_, _, _, err := seen.BackupInto(t.Context(), dir, 5, b.clock.Now())
	wantOldCopy(t, "beneath a copy that cannot be read", err)
	must.Do(t, os.Remove(last), os.Rename(b.parts.Journal, b.parts.Journal+".lost"))
	_, _, _, err = seen.BackupInto(t.Context(), dir, 5, b.clock.Now())
	must.Do(t, err, seen.Close())
}

// wantOldCopy wants the error of a ledger that is an old copy.
func wantOldCopy(t *testing.T, what string, err error) {
	t.Helper()
	var fault *state.Error
	if !errors.As(err, &fault) || fault.Code != state.CodeOldCopy {
		t.Fatalf("%s: %v", what, err)
	}
}

// newestIn returns the copy that the hint of an error tells to restore.
func newestIn(t *testing.T, err error) string {
	t.Helper()
	m := regexp.MustCompile("`safrasync restore (\\S+) --reason").FindStringSubmatch(err.Error())
	if m == nil {
		t.Fatalf("no copy is named: %v", err)
	}
	return m[1]
}

package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
	"github.com/safrasync/safrasync/trade"
)

var restoreAct = trade.AuditRecord{
	At: at, Who: "ana", From: "ana@srv", Act: "restore", Target: "ledger",
	Reason: "the disk was replaced",
}

func TestABackupIsMadeWhileOthersWrite(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	file := filepath.Join(t.TempDir(), "copy.db")
	var wg sync.WaitGroup
	wg.Go(func() { k.send("b", 20) })
	for i := range 5 {
		if err := k.s.Backup(t.Context(), fmt.Sprint(file, i)); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	must.Do(t, k.s.Backup(t.Context(), file))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	s := mustOpen(t, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: file, ReadOnly: true})
	if got := len(statesOf(t, s, "contracts")); got != 23 {
		t.Errorf("%d rows in the copy, want 23", got)
	}
	wantCode(t, k.s.Backup(t.Context(), file), sqldb.CodeCopy)
	wantCode(t, k.s.Backup(t.Context(), filepath.Join(t.TempDir(), "nowhere", "copy.db")), sqldb.CodePermission)
	rest, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.part-*"))
	if err != nil || len(rest) != 0 {
		t.Errorf("left over: %v, %v", rest, err)
	}
}

func TestPostgresIsBackedUpByItsOwnTools(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[1].open(t))
	wantCode(t, k.s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy")),
		sqldb.CodeCopy, "pg_dump")
	_, err := Restore(t.Context(), k.o, "copy", restoreAct)
	wantCode(t, err, sqldb.CodeCopy, "pg_restore")
}

func TestARestoredLedgerIsComparedWithItsJournal(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	file := filepath.Join(t.TempDir(), "copy.db")
	must.Do(t, k.s.Backup(t.Context(), file))
	k.send("b", 3)
	want := provenOf(t, k.s)
	_, err := Restore(t.Context(), k.o, file, restoreAct)
	wantCode(t, err, sqldb.CodeLocked)
	k.close()
	kept := must.Get(Restore(t.Context(), k.o, file, restoreAct))(t)
	old := mustOpen(t, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: kept, ReadOnly: true})
	if got := len(statesOf(t, old, "contracts")); got != 6 {
		t.Errorf("the ledger that was kept has %d rows, want 6", got)
	}
	k.noticedAndRebuilt(0, want, map[string]bool{})
	k.open()
	audit, err := k.s.Audit(t.Context(), 0)
	if err != nil || len(audit) != 2 || audit[1].Act != "restore" || audit[0].Act != "rebuild" {
		t.Errorf("audit %+v, %v", audit, err)
	}
	k.close()

	// A copy of another ledger is not taken.
	other := keep(t, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "other.db")})
	other.send("x", 1)
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	must.Do(t, other.s.Backup(t.Context(), foreign))
	_, err = Restore(t.Context(), k.o, foreign, restoreAct)
	wantCode(t, err, sqldb.CodeCopy)

	// A damaged ledger is replaced too; a damaged copy is not taken.
	must.Do(t, os.WriteFile(k.o.DSN, []byte(strings.Repeat("nothing of a database ", 400)), 0o600))
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeCorrupt)
	bad := filepath.Join(t.TempDir(), "bad.db")
	must.Do(t, os.WriteFile(bad, []byte("no database"), 0o600))
	if _, err := Restore(t.Context(), k.o, bad, restoreAct); err == nil {
		t.Error("a file that is no ledger was taken")
	}
	if _, err := Restore(t.Context(), k.o, filepath.Join(t.TempDir(), "nowhere"), restoreAct); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	must.Get(Restore(t.Context(), k.o, file, restoreAct))(t)
	k.noticedAndRebuilt(0, want, map[string]bool{})
}

func TestF059ALedgerCopiedWithoutItsWALIsNoticed(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	k.close() // everything is in the file
	k.open()
	k.send("b", 4) // this is in the -wal only
	half := filepath.Join(t.TempDir(), "half.db")
	copyFile(t, k.o.DSN, half)
	want := provenOf(t, k.s)
	// A copy that is no finished one is not restored.
	copyFile(t, k.o.DSN+"-wal", half+"-wal")
	_, err := Restore(t.Context(), k.o, half, restoreAct)
	wantCode(t, err, sqldb.CodeCopy)
	must.Do(t, os.Remove(half+"-wal"))
	k.close()
	removeLedger(t, k.o.DSN)
	copyFile(t, half, k.o.DSN)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	k.noticedAndRebuilt(0, want, map[string]bool{})
}

func TestADatedCopyIsMadeAndTheNewestAreKept(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	dir := t.TempDir()
	start := time.Date(2026, 11, 1, 2, 30, 0, 0, time.UTC)
	var made []string
	for night := range 4 {
		file, removed, _, err := k.s.BackupInto(t.Context(), dir, 2, start.AddDate(0, 0, night))
		must.Do(t, err)
		if made = append(made, file); night >= 2 && !slices.Equal(removed, made[night-2:night-1]) {
			t.Errorf("night %d removed %q of %q", night, removed, made)
		}
	}
	wantFiles(t, dir, made[2:]...)

	// A clock that was set back takes nothing from the copy that was just made.
	back, removed, _, err := k.s.BackupInto(t.Context(), dir, 2, start)
	if err != nil || !slices.Equal(removed, made[2:3]) {
		t.Errorf("removed %q, %v", removed, err)
	}
	wantFiles(t, dir, back, made[3])

	// The name is taken: nothing is made, and nothing goes.
	_, removed, _, err = k.s.BackupInto(t.Context(), dir, 1, start)
	wantCode(t, err, sqldb.CodeCopy)
	if len(removed) > 0 {
		t.Errorf("removed %q though there is no new copy", removed)
	}
	wantFiles(t, dir, back, made[3])

	// A copy that has lost its end does not stand for one; neither do a half made one, a folder or
	// another ledger's.
	must.Do(t, os.Truncate(made[3], 4096))
	for _, name := range []string{
		filepath.Base(back) + ".part-1", "safrasync-ffffffffffff-20200101T000000.000Z.db",
		"x" + filepath.Base(back),
	} {
		copyFile(t, back, filepath.Join(dir, name))
	}
	folder := strings.Replace(back, "-2026", "-2025", 1)
	must.Do(t, os.Mkdir(folder, 0o700))
	newest, removed, broken, err := k.s.BackupInto(t.Context(), dir, 1, start.AddDate(0, 1, 0))
	if err != nil || !slices.Equal(removed, []string{back}) || !slices.Equal(broken, []string{folder, made[3]}) {
		t.Errorf("removed %q, broken %q, %v", removed, broken, err)
	}
	for _, file := range []string{newest, made[3], folder, back + ".part-1"} {
		if _, err := os.Lstat(file); err != nil {
			t.Error(err)
		}
	}
}

// wantFiles wants these copies in a folder, each with its line.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	got, err := filepath.Glob(dir + "/*")
	for _, file := range slices.Clone(want) {
		want = append(want, lineFile(file))
	}
	if slices.Sort(want); err != nil || !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q; %v", got, want, err)
	}
}

// The line of a copy decides whether a ledger is older than the copy, and only a line that is
// whole, of this ledger, and of a copy that is there and whole. The date in a name decides nothing
// but the order.
func TestTheLineOfACopyTellsWhetherTheLedgerIsOlder(t *testing.T) {
	t.Parallel()
	future := func(file string) string { return strings.Replace(file, "-2026", "-2099", 1) }
	rewrite := func(t *testing.T, file string, change func(*copyLine)) {
		line := lineOfCopy(file)
		change(&line)
		must.Do(t, witness.WriteFile(lineFile(file), line))
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, older, newer string)
		opens  bool
	}{
		"as they were made": {func(*testing.T, string, string) {}, false},
		"none has a line": {func(t *testing.T, a, b string) {
			must.Do(t, os.Remove(lineFile(a)), os.Remove(lineFile(b)))
		}, true},
		"the newer one has no line": {func(t *testing.T, _, b string) {
			must.Do(t, os.Remove(lineFile(b)))
		}, true},
		"the older one has no line": {func(t *testing.T, a, _ string) {
			must.Do(t, os.Remove(lineFile(a)))
		}, false},
		"the newer line is damaged": {func(t *testing.T, _, b string) {
			must.Do(t, os.WriteFile(lineFile(b), []byte("{}\n"), 0o600))
		}, true},
		"the newer line is cut off": {func(t *testing.T, _, b string) {
			must.Do(t, os.Truncate(lineFile(b), 90))
		}, true},
		"the newer line is empty": {func(t *testing.T, _, b string) {
			must.Do(t, os.Truncate(lineFile(b), 0))
		}, true},
		"the newer copy is missing": {func(t *testing.T, _, b string) {
			must.Do(t, os.Remove(b))
		}, true},
		"the newer copy is cut off": {func(t *testing.T, _, b string) {
			must.Do(t, os.Truncate(b, 4096))
		}, true},
		"the folder is elsewhere": {func(t *testing.T, a, _ string) {
			must.Do(t, os.Rename(filepath.Dir(a), filepath.Dir(a)+".away"))
		}, true},
		"the newer line has an older record": {func(t *testing.T, a, b string) {
			copyFile(t, lineFile(a), lineFile(b))
		}, true},
		"the line is of another ledger": {func(t *testing.T, _, b string) {
			rewrite(t, b, func(l *copyLine) { l.Ledger = sqldb.NewID() })
		}, true},
		"the line is of a journal that is not known": {func(t *testing.T, _, b string) {
			rewrite(t, b, func(l *copyLine) { l.Journal = sqldb.NewID() })
		}, false},
		"the line is of another history": {func(t *testing.T, a, b string) {
			must.Do(t, os.Remove(b))
			rewrite(t, a, func(l *copyLine) { l.Mark = "00000000" })
		}, false},
		"the line is of the future": {func(t *testing.T, _, b string) {
			rewrite(t, b, func(l *copyLine) { l.At = l.At.AddDate(70, 0, 0) })
		}, false},
		"the newer copy is of the future": {func(t *testing.T, _, b string) {
			must.Do(t, os.Rename(b, future(b)), os.Rename(lineFile(b), lineFile(future(b))))
		}, false},
		"the older copy is of the future, and hides no later one": {func(t *testing.T, a, _ string) {
			rewrite(t, a, func(l *copyLine) { l.At = l.At.AddDate(73, 0, 0) })
			must.Do(t, os.Rename(a, future(a)), os.Rename(lineFile(a), lineFile(future(a))))
		}, false},
		"a copy of the future has no line": {func(t *testing.T, a, _ string) { copyFile(t, a, future(a)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, backends[0].open(t))
			dir := t.TempDir()
			backup := func(day int) string {
				at := time.Date(2026, 11, day, 2, 30, 0, 0, time.UTC)
				file, _, _, err := k.s.BackupInto(t.Context(), dir, 5, at)
				must.Do(t, err, k.s.BackupMade(t.Context(), at, dir))
				return file
			}
			k.send("a", 3)
			older := backup(1)
			k.close()
			journals, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
			must.Do(t, os.CopyFS(journals, os.DirFS(k.dir())))
			copyFile(t, k.o.DSN, image)
			k.open()
			k.send("b", 3)
			newer := backup(2)
			k.close()
			must.Do(t, k.try(sqldb.DefaultTuning)) // the copy is no newer than the ledger
			k.close()
			removeLedger(t, k.o.DSN)
			copyFile(t, image, k.o.DSN)
			must.Do(t, os.RemoveAll(k.dir()), os.CopyFS(k.dir(), os.DirFS(journals)))
			c.change(t, older, newer)
			err := k.try(sqldb.DefaultTuning)
			if c.opens {
				must.Do(t, err)
				return
			}
			wantCode(t, err, sqldb.CodeOldCopy)
		})
	}
}

// A copy that is not as the backup made it is not restored, though its pages may be in order.
func TestACopyWhoseHashIsNotThatOfItsLineIsNotRestored(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	file, _, _, err := k.s.BackupInto(t.Context(), t.TempDir(), 2, at)
	must.Do(t, err)
	k.close()
	text := must.Get(os.ReadFile(file))(t)
	other := bytes.Clone(text)
	other[60]++ // a number that is the user's, says SQLite
	must.Do(t, os.WriteFile(file, other, 0o600))
	_, err = Restore(t.Context(), k.o, file, restoreAct)
	wantCode(t, err, sqldb.CodeCorrupt)
	must.Do(t, os.WriteFile(file, text, 0o600))
	must.Get(Restore(t.Context(), k.o, file, restoreAct))(t)
	must.Do(t, os.Remove(lineFile(file)), os.WriteFile(file, other, 0o600))
	must.Get(Restore(t.Context(), k.o, file, restoreAct))(t) // nothing to compare with
}

// A copy whose line cannot be written is not made: it would tell less than it has. A copy whose
// line is missing is told as broken, and stays.
func TestACopyWithoutItsLineIsNotMade(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	dir, night := t.TempDir(), time.Date(2026, 11, 1, 2, 30, 0, 0, time.UTC)
	first, _, _, err := k.s.BackupInto(t.Context(), dir, 1, night)
	must.Do(t, err)
	second := strings.Replace(first, "-20261101", "-20261102", 1)
	must.Do(t, os.Mkdir(lineFile(second), 0o700))
	file, removed, _, err := k.s.BackupInto(t.Context(), dir, 1, night.AddDate(0, 0, 1))
	if err == nil || file != "" || len(removed) > 0 {
		t.Errorf("made %q, removed %q, %v", file, removed, err)
	}
	if _, err := os.Lstat(second); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy without a line: %v", err)
	}
	must.Do(t, os.Remove(lineFile(second)), os.Remove(lineFile(first)))
	_, removed, broken, err := k.s.BackupInto(t.Context(), dir, 1, night.AddDate(0, 0, 2))
	if err != nil || len(removed) > 0 || !slices.Equal(broken, []string{first}) {
		t.Errorf("removed %q, broken %q, %v", removed, broken, err)
	}
}

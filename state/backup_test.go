package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
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
	if text := wantCode(t, k.s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy")),
		sqldb.CodeCopy); !strings.Contains(text, "pg_dump") {
		t.Errorf("error %s", text)
	}
	_, err := Restore(t.Context(), k.o, "copy", restoreAct)
	if text := wantCode(t, err, sqldb.CodeCopy); !strings.Contains(text, "pg_restore") {
		t.Errorf("error %s", text)
	}
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

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	got, err := filepath.Glob(dir + "/*")
	if slices.Sort(want); err != nil || !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q; %v", got, want, err)
	}
}

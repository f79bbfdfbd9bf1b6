//go:build seccomp

package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdisk"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// ofSQLite reports whether a call is SQLite's: what it does when one fails is for the tests with
// strace.
func ofSQLite(call, path string) bool {
	name := filepath.Base(path)
	paged := call == "pread64" || call == "pwrite64" || call == "read" || call == "write" || call == "ftruncate" ||
		call == "fstat"
	if call == "renameat" { // that is ours
		return false
	}
	return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") || strings.HasSuffix(name, "-journal") ||
		paged && (name == "state.db" || strings.Contains(name, ".db.part-"))
}

// F047, F048, F050, F053: each system call on the files of a ledger and its journal fails, with an
// error of the device or for want of room, while it is opened, copied, restored, rebuilt, looked at
// by doctor, gets a new journal or lets the old one begin again: the next try gets there, and no
// row is missing.
func TestF048EverySystemCallWhileALedgerIsOpenedOrRepairedFails(t *testing.T) {
	disk := sickdisk.Own(t)
	if disk == nil {
		return
	}
	all := maps.Clone(situations)
	all["an older copy rebuilt"] = situation{func(s *scene) { richer(s) }, all["one rebuilt"].op, 13}
	all["a damaged one rebuilt"] = situation{func(s *scene) {
		lived(s)
		must.Do(s.t, os.WriteFile(s.o.DSN, []byte(strings.Repeat("damaged ", 1000)), 0o600))
	}, all["one rebuilt"].op, 4}
	all["a group ahead"] = situation{between, all["one that is there"].op, 4}
	all["a journal that was begun for nothing"] = situation{func(s *scene) {
		s.open()
		mustExec(s.t, s.s, `DELETE FROM journal`)
		s.close()
	}, all["one that is there"].op, 0}
	with := func(op func(s *scene, ledger *Store) error) func(s *scene) func(sqldb.Tuning) error {
		return func(s *scene) func(sqldb.Tuning) error {
			return func(tune sqldb.Tuning) error {
				ledger, err := open(s.t.Context(), s.o, tune)
				if err != nil {
					return err
				}
				return errors.Join(op(s, ledger), ledger.Close())
			}
		}
	}
	copies := 0
	all["a backup"] = situation{lived, with(func(s *scene, ledger *Store) error {
		copies++ // one whose name may not be on disk stays, and is told
		return ledger.Backup(s.t.Context(), filepath.Join(s.home, fmt.Sprintf("copy%d.db", copies)))
	}), 4}
	all["served"] = situation{lived, with(func(_ *scene, ledger *Store) error {
		release, err := ledger.Serve()
		if err != nil {
			return err
		}
		return release()
	}), 4}
	all["looked at"] = situation{lived, with(func(s *scene, ledger *Store) error {
		_, sizeErr := ledger.Sizes(s.t.Context())
		_, err := ledger.Diagnose(s.t.Context(), s.o.Journal, true, 0)
		_, reportErr := ledger.JournalReport(s.t.Context(), s.o.Journal)
		return errors.Join(sizeErr, err, reportErr)
	}), 4}
	all["a retention"] = situation{lived, with(func(s *scene, ledger *Store) error {
		keep := keepAll
		keep.Journal = 1
		_, err := ledger.Retain(s.t.Context(), keep, later, byRetention)
		if err != nil {
			return err
		}
		return beginAgain(s.t.Context(), ledger)
	}), 4}
	all["sent from"] = situation{lived, with(func(s *scene, ledger *Store) error {
		ctx := s.t.Context()
		lease, err := ledger.AcquireLease(ctx, "contracts", sqldb.Self())
		if err != nil {
			return err
		}
		e, err := ledger.Entry(ctx, "contracts", "d0")
		if err == nil && e.State == trade.InDoubt {
			_, err = ledger.Act(ctx, []trade.Act{dismissal(e)})
		}
		return errors.Join(err, ledger.ReleaseLease(context.WithoutCancel(ctx), lease))
	}), 4}
	failed := 0
	errs := []syscall.Errno{syscall.EIO}
	if long {
		errs = append(errs, syscall.ENOSPC, syscall.EACCES)
	}
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, test.prepare)
			op := test.op(s)
			// The first system call of the operation fails that it makes on the files of the scene, then its
			// second, and so on.
			for _, errno := range errs {
				plan := sickdisk.Plan{Under: s.home, Skip: ofSQLite, Err: errno}
				for plan.At = 1; ; plan.At++ {
					s.again()
					_, statErr := os.Stat(s.o.DSN)
					disk.Arm(plan)
					err := op(s.b.tuning())
					hit := must.Get(disk.Disarm())(t)
					if hit == "" {
						must.Do(t, err)
						failed += plan.At - 1
						break
					}
					var known *sqldb.Error
					if errors.As(err, &known) && known.Code == sqldb.CodeEmptied && statErr == nil {
						t.Errorf("call %d failed (%s, %v), and the ledger counts as gone: %v", plan.At, hit, errno, err)
					}
					if err != nil {
						if again := op(s.b.tuning()); again != nil {
							t.Errorf("the next try after call %d failed (%s, %v; %v): %v", plan.At, hit, errno, err, again)
						}
					}
					s.rows(test.rows)()
				}
			}
		})
	}
	t.Logf("%d calls failed in %d situations", failed, len(all))
}

// What /proc does not tell is not known: a process of which nothing can be read counts as running.
func TestAProcOfWhichNothingCanBeRead(t *testing.T) {
	disk := sickdisk.Own(t)
	if disk == nil {
		return
	}
	disk.Arm(sickdisk.Plan{Under: "/proc", At: 1, Lasting: true, Err: syscall.EACCES})
	started, running := sqldb.ProcessStart(os.Getppid())
	if hit, err := disk.Disarm(); hit == "" || err != nil || started != "" || !running {
		t.Errorf("%q, %t (%s, %v)", started, running, hit, err)
	}
}

// Where the process stands in a folder that is gone, a relative path means nothing, and what needs
// it says so.
func TestAFolderThatIsGoneUnderTheProcess(t *testing.T) {
	if sickdisk.Own(t) == nil {
		return
	}
	k := &kept{t: t, o: sqldb.OpenOptions{
		Begin: true, Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"),
		Journal: filepath.Join(t.TempDir(), "journal"), Version: "1.0.0-test",
	}}
	k.open()
	k.send("a", 2)
	gone := filepath.Join(t.TempDir(), "gone")
	must.Do(t, os.Mkdir(gone, 0o700))
	t.Chdir(gone)
	must.Do(t, os.Remove(gone))
	ctx := t.Context()
	ledger, journals := k.o, k.o
	ledger.DSN, journals.Journal = "state.db", "journal"
	apart := journals
	apart.DSN = filepath.Join(filepath.Dir(k.o.DSN), "another.db")
	for name, op := range map[string]func() error{
		"open":                       func() error { _, err := Open(ctx, ledger); return err },
		"open with such a journal":   func() error { _, err := Open(ctx, journals); return err },
		"backup":                     func() error { return k.s.Backup(ctx, "copy.db") },
		"restore":                    func() error { _, err := Restore(ctx, ledger, k.o.DSN, restoreAct); return err },
		"restore a file":             func() error { _, err := Restore(ctx, apart, "copy.db", restoreAct); return err },
		"rebuild":                    func() error { _, err := Rebuild(ctx, ledger, nil, false, rebuildAct); return err },
		"rebuild from such a folder": func() error { _, err := Rebuild(ctx, apart, nil, false, rebuildAct); return err },
		"rebuild from such a folder what is there": func() error {
			_, err := Rebuild(ctx, journals, nil, false, rebuildAct)
			return err
		},
		"a new journal":        func() error { _, err := NewJournal(ctx, journals, nil, false, rebuildAct); return err },
		"forgotten":            func() error { return Forgotten(ledger) },
		"diagnosis":            func() error { _, err := k.s.Diagnose(ctx, "journal", false, 0); return err },
		"the journal's report": func() error { _, err := k.s.JournalReport(ctx, "journal"); return err },
	} {
		if err := op(); err == nil {
			t.Errorf("%s: nothing was said", name)
		} else {
			t.Log(fmt.Sprintf("%s: %v", name, err))
		}
	}
	mustAddUp(t, k.s, "contracts")
}

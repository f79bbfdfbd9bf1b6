package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// scene is a folder with a ledger in SQLite and its journal, which is set up again as it was.
type scene struct {
	*kept
	b            *breaker
	home, before string
	step         int // of the calls that fail, every step-th does
}

func newScene(t *testing.T, prepare func(s *scene)) *scene {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	must.Do(t, os.Mkdir(home, 0o700))
	s := &scene{b: &breaker{}, step: 1, home: home, before: filepath.Join(t.TempDir(), "before")}
	s.kept = &kept{t: t, o: sqldb.OpenOptions{
		Begin: true, Driver: sqldb.SQLite, DSN: filepath.Join(home, "state.db"),
		Journal: filepath.Join(home, "journal"), Version: "1.0.0-test",
	}}
	prepare(s)
	must.Do(t, os.CopyFS(s.before, os.DirFS(home)))
	return s
}

// again sets the scene up.
func (s *scene) again() {
	s.t.Helper()
	must.Do(s.t, os.RemoveAll(s.home), os.CopyFS(s.home, os.DirFS(s.before)))
}

// each lets op's first call of the database fail, then its second, and so on. An op that says that
// it failed is called again, and succeeds; then check looks at what came of it. Nothing of what is
// made on the way stays.
func (s *scene) each(op func(tune sqldb.Tuning) error, check func()) {
	s.t.Helper()
	for at := 1; ; at += s.step {
		s.again()
		s.b.arm(at, false)
		err := op(s.b.tuning())
		hit := s.b.disarm()
		if hit == "" && err != nil {
			s.t.Fatalf("without a failure: %v", err)
		}
		if err != nil {
			if again := op(s.b.tuning()); again != nil {
				s.t.Errorf("the next try after call %d of the database failed (%s; %v): %v", at, hit, err, again)
			}
		}
		check()
		files := must.Get(filepath.Glob(filepath.Join(s.home, "*")))(s.t)
		for _, file := range files {
			if strings.Contains(file, ".part-") || strings.Contains(file, ".restore-") {
				s.t.Errorf("call %d of the database failed (%s), and left %s", at, hit, file)
			}
		}
		if hit == "" {
			return
		}
	}
}

// stands opens the ledger, checks it, and whether its sums add up.
func (s *scene) stands(check func()) func() {
	return func() {
		s.t.Helper()
		must.Do(s.t, s.try(sqldb.DefaultTuning))
		check()
		mustAddUp(s.t, s.s, "contracts")
		s.close()
	}
}

// rows checks how many rows the ledger has.
func (s *scene) rows(want int) func() {
	return s.stands(func() {
		if got := len(statesOf(s.t, s.s, "contracts")); got != want {
			s.t.Errorf("the ledger has %d rows, want %d", got, want)
		}
	})
}

// opens returns an opening as op.
func (s *scene) opens(o sqldb.OpenOptions) func(tune sqldb.Tuning) error {
	return func(tune sqldb.Tuning) error {
		ledger, err := open(s.t.Context(), o, tune)
		if err == nil {
			err = ledger.Close()
		}
		return err
	}
}

// lived fills the ledger: accepted rows, one that is being sent, one in doubt.
func lived(s *scene) {
	s.open()
	s.send("a", 3)
	s.doubts(1)
	s.close()
}

// older has a ledger from before its journal's end: so many records of it are missing.
func older(records int) func(s *scene) {
	return func(s *scene) {
		lived(s)
		copyFile(s.t, s.o.DSN, s.o.DSN+".older")
		s.open()
		for range records {
			e := mustEntry(s.t, s.s, "contracts", "d0")
			if e.State == trade.InDoubt {
				s.order(adoption(e, "remote-d"))
			} else {
				s.order(entryAct("reopen", mustEntry(s.t, s.s, "contracts", "a0"), func(*trade.Entry) {}))
			}
		}
		s.close()
		removeLedger(s.t, s.o.DSN)
		must.Do(s.t, os.Rename(s.o.DSN+".older", s.o.DSN))
	}
}

// situation is something done to a ledger's files, after which it has so many rows.
type situation struct {
	prepare func(s *scene)
	op      func(s *scene) func(tune sqldb.Tuning) error
	rows    int
}

// situations are the openings, copies and repairs of a ledger.
var situations = map[string]situation{
	"a new ledger":       {func(*scene) {}, func(s *scene) func(sqldb.Tuning) error { return s.opens(s.o) }, 0},
	"one that is there":  {lived, func(s *scene) func(sqldb.Tuning) error { return s.opens(s.o) }, 4},
	"one behind a crash": {older(1), func(s *scene) func(sqldb.Tuning) error { return s.opens(s.o) }, 4},
	"one for reading": {lived, func(s *scene) func(sqldb.Tuning) error {
		o := s.o
		o.ReadOnly, o.Verify = true, true
		return s.opens(o)
	}, 4},
	"one without a journal": {
		lived,
		func(s *scene) func(sqldb.Tuning) error { o := s.o; o.Journal = ""; return s.opens(o) }, 4,
	},
	"a backup": {lived, func(s *scene) func(sqldb.Tuning) error {
		return func(tune sqldb.Tuning) error {
			o := s.o
			o.ReadOnly = true
			ledger, err := open(s.t.Context(), o, tune)
			if err != nil {
				return err
			}
			return errors.Join(ledger.Backup(s.t.Context(), filepath.Join(s.home, "copy.db")), ledger.Close())
		}
	}, 4},
	"a restored one": {func(s *scene) {
		lived(s)
		copyFile(s.t, s.o.DSN, filepath.Join(s.home, "copy.db"))
	}, func(s *scene) func(sqldb.Tuning) error {
		return func(tune sqldb.Tuning) error {
			_, err := restore(s.t.Context(), s.o, tune, filepath.Join(s.home, "copy.db"), restoreAct)
			return err
		}
	}, 4},
	"a plan to rebuild": {lived, func(s *scene) func(sqldb.Tuning) error {
		return func(tune sqldb.Tuning) error {
			_, err := rebuild(s.t.Context(), s.o, tune, nil, false, rebuildAct)
			return err
		}
	}, 4},
	"one rebuilt": {lived, func(s *scene) func(sqldb.Tuning) error {
		return func(tune sqldb.Tuning) error {
			_, err := rebuild(s.t.Context(), s.o, tune, nil, true, rebuildAct)
			return err
		}
	}, 4},
	"one rebuilt from nothing": {
		func(s *scene) { lived(s); removeLedger(s.t, s.o.DSN) },
		func(s *scene) func(sqldb.Tuning) error {
			return func(tune sqldb.Tuning) error {
				_, err := rebuild(s.t.Context(), s.o, tune, nil, true, rebuildAct)
				return err
			}
		}, 4,
	},
	"a new journal": {lived, func(s *scene) func(sqldb.Tuning) error {
		return func(tune sqldb.Tuning) error {
			_, err := newJournal(s.t.Context(), s.o, tune, nil, true, rebuildAct)
			var known *sqldb.Error
			// the new journal was there already, and the message says what to do
			if errors.As(err, &known) && known.Code == sqldb.CodeRolledBack {
				_, err = rebuild(s.t.Context(), s.o, tune, nil, true, rebuildAct)
			}
			return err
		}
	}, 4},
}

// F047, F048: a database that fails at any call while a ledger is opened, made, copied, restored,
// rebuilt or gets a new journal: the next try succeeds, and nothing is missing.
func TestEveryCallOfTheDatabaseFailsOnceWhileALedgerIsOpenedOrRepaired(t *testing.T) {
	t.Parallel()
	for name, test := range situations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, test.prepare)
			s.b.closes = name != "a backup" // whose copy is there then
			if strings.Contains(name, "new ledger") || strings.Contains(name, "nothing") {
				s.step = 4 // most calls are those of the migrations
			}
			if !long {
				s.step *= 5
			}
			s.each(test.op(s), s.rows(test.rows))
		})
	}
}

// The same in PostgreSQL, where what a failed opening has made is gone on with.
func TestEveryCallOfPostgreSQLFailsOnceWhileALedgerIsOpened(t *testing.T) {
	t.Parallel()
	b, o := &breaker{}, sqldb.OpenOptions{
		Begin: true, Driver: sqldb.Postgres, DSN: pgtest.Database(t),
		Journal: filepath.Join(t.TempDir(), "journal"), Version: "1.0.0-test",
	}
	for at, well := 1, 0; well < 2; at++ {
		b.arm(at, false)
		s, err := open(t.Context(), o, b.tuning())
		hit := b.disarm()
		switch {
		case err == nil:
			err = s.Close()
		case hit != "":
			err = nil
		}
		must.Do(t, err)
		if hit == "" { // a new ledger first, then one that is there
			well++
			at = 0
		}
	}
}

package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
)

// A ledger that is not there is an error that says what was looked for and where, and nothing
// is made; New alone begins one, with its journal, once.
func TestALedgerIsBegunByNobodyButNew(t *testing.T) {
	t.Parallel()
	for _, kind := range backends {
		for name, made := range map[string]func(testing.TB) sqldb.OpenOptions{
			"nothing is there": kind.empty,
			"an earlier beginning got as far as the tables": kind.open,
		} {
			t.Run(kind.name+", "+name, func(t *testing.T) {
				t.Parallel()
				o := made(t)
				o.Begin, o.Version, o.Journal = false, "1.0.0-test", filepath.Join(t.TempDir(), "journal")
				for _, readOnly := range []bool{false, true} {
					look := o
					look.ReadOnly = readOnly
					_, err := Open(t.Context(), look)
					wantCode(t, err, sqldb.CodeAbsent)
					says(t, err, "it is not there")
					says(t, err, "mount its disk")
					says(t, err, "safrasync state new")
					if !errors.Is(err, sqldb.ErrNoLedger) {
						t.Errorf("read only %t: %v", readOnly, err)
					}
				}
				if _, err := os.Stat(o.DSN); kind.name == sqldb.SQLite && name == "nothing is there" &&
					!errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a file was made: %v", err)
				}
				if _, err := os.Stat(o.Journal); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a journal was begun: %v", err)
				}
				s, err := New(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				id := s.LedgerID()
				if _, err := os.Stat(s.JournalFolder()); err != nil || s.Where() == "" {
					t.Errorf("its journal: %v; it is at %q", err, s.Where())
				}
				must.Do(t, s.Close())
				_, err = New(t.Context(), o)
				wantCode(t, err, sqldb.CodeStands)
				s = must.Get(Open(t.Context(), o))(t)
				if s.LedgerID() != id {
					t.Errorf("the ledger is %s, and was %s", s.LedgerID(), id)
				}
				must.Do(t, s.Close())
			})
		}
	}
}

// A plan to move a ledger begins none in the new place.
func TestAPlanToMoveALedgerBeginsNone(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.close()
	to := sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "new.db"), Journal: k.o.Journal}
	plan, err := Move(t.Context(), k.o, to, false, moveRecord)
	if err != nil || plan.To != to.DSN {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := os.Stat(to.DSN); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

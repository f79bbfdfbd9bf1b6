package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
)

// F058: a copy of a ledger from before it was moved sends nothing, whichever way it comes back.
func TestAnOldBackupOfAMovedLedgerSendsNothing(t *testing.T) {
	t.Parallel()
	for _, to := range backends {
		t.Run("sqlite to "+to.name, func(t *testing.T) {
			t.Parallel()
			from, target := backends[0].open(t), to.empty(t)
			from.Journal, target.Journal = filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "journal")
			filled(t, from)
			old := filepath.Join(t.TempDir(), "old.db")
			copyFile(t, from.DSN, old)
			s := mustOpen(t, from)
			lease := mustLease(t, s, "contracts")
			mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("later"))[0])
			must.Do(t, s.ReleaseLease(t.Context(), lease), s.Close())
			moved := must.Get(Move(t.Context(), from, target, true, moveRecord))(t)

			refused := func(what string, err error) {
				t.Helper()
				if text := wantCode(t, err, sqldb.CodeMoved); !strings.Contains(text, moved.To) {
					t.Errorf("%s does not say where it went: %s", what, text)
				}
			}
			each := func(place string) {
				t.Helper()
				_, err := Restore(t.Context(), from, old, moveRecord)
				refused("restore, "+place, err)
				for _, apply := range []bool{false, true} {
					_, err := Rebuild(t.Context(), from, nil, apply, moveRecord)
					refused(fmt.Sprintf("rebuild (%v), %s", apply, place), err)
				}
			}
			each("the moved one in its place")
			removeLedger(t, from.DSN)
			each("nothing in its place")
			_, err := New(t.Context(), from)
			refused("a new one", err)
			copyFile(t, old, from.DSN)
			each("the old one in its place")
			_, err = Open(t.Context(), from)
			refused("opening", err)
			_, err = NewJournal(t.Context(), from, nil, true, moveRecord)
			refused("a new journal", err)
			_, err = Rebind(t.Context(), from, RebindOrder{Platform: "https://other.example", Apply: true}, moveRecord)
			refused("rebind", err)
			look := from
			look.ReadOnly = true
			_, err = mustOpen(t, look).JournalReport(t.Context(), from.Journal)
			refused("check", err)
		})
	}
}

// Without its journal's folder the ledger in its place still says it.
func TestAMovedLedgerIsNotReplacedByAnOldBackup(t *testing.T) {
	t.Parallel()
	from, target := backends[0].open(t), backends[0].empty(t)
	from.Journal = filepath.Join(t.TempDir(), "journal")
	filled(t, from)
	old := filepath.Join(t.TempDir(), "old.db")
	copyFile(t, from.DSN, old)
	must.Get(Move(t.Context(), from, target, true, moveRecord))(t)
	must.Do(t, os.RemoveAll(from.Journal))
	_, err := Restore(t.Context(), from, old, moveRecord)
	wantCode(t, err, sqldb.CodeMoved)
}

// The other hosts of a ledger learn from the new one that the old one was moved: each has a journal
// of its own, and an old dump fits it.
func TestAnOldDumpOfAMovedLedgerSendsNothingFromAnyHost(t *testing.T) {
	t.Parallel()
	a, target := backends[1].open(t), backends[1].empty(t)
	a.Journal = filepath.Join(t.TempDir(), "a")
	b := a
	b.Journal = filepath.Join(t.TempDir(), "b")
	filled(t, b)
	must.Do(t, mustOpen(t, a).Close())
	target.Journal = a.Journal
	must.Get(Move(t.Context(), a, target, true, moveRecord))(t)
	target.Journal = b.Journal
	must.Do(t, mustOpen(t, target).Close())
	raw(t, a, `UPDATE ledger SET moved_to = NULL`)
	for _, host := range []sqldb.OpenOptions{a, b} {
		_, err := Open(t.Context(), host)
		wantCode(t, err, sqldb.CodeMoved)
	}
}

// A process that dies between journal and ledger has marked only the journal; the same command goes
// on.
func TestAMoveGoesOnThatMarkedOnlyTheJournal(t *testing.T) {
	t.Parallel()
	r := removals(t, backends[0], backends[1])
	must.Get(Move(t.Context(), r.from, r.to, true, moveRecord))(t)
	marked := filepath.Join(t.TempDir(), "marked")
	must.Do(t, os.CopyFS(marked, os.DirFS(r.from.Journal)))
	segment := must.Get(filepath.Glob(filepath.Join(marked, "*", "*.journal")))(t)[0]
	lines := strings.SplitAfter(string(must.Get(os.ReadFile(segment))(t)), "\n")
	marks := strings.Join(lines[:len(lines)-2], "") // without the record that says that the copy is complete
	must.Do(t, os.WriteFile(segment, []byte(marks), 0o600))
	r.again()
	must.Do(t, os.RemoveAll(r.from.Journal), os.CopyFS(r.from.Journal, os.DirFS(marked)))
	_, err := Open(t.Context(), r.from)
	wantCode(t, err, sqldb.CodeCopy)
	if plan, err := Move(t.Context(), r.from, r.to, true, moveRecord); err != nil || plan.Done {
		t.Fatalf("the same command again: %+v, %v", plan, err)
	}
	r.arrived("in the end")
}

// A ledger that was marked without its journal gets the mark there when the same command goes on.
func TestAMoveGoesOnThatMarkedOnlyTheLedger(t *testing.T) {
	t.Parallel()
	r := removals(t, backends[0], backends[1])
	raw(t, r.from, `UPDATE ledger SET moved_to = '`+must.Get(whereOf(r.to))(t)+`'`)
	must.Get(Move(t.Context(), r.from, r.to, true, moveRecord))(t)
	r.arrived("in the end")
	raw(t, r.from, `UPDATE ledger SET moved_to = NULL`)
	_, err := Open(t.Context(), r.from)
	wantCode(t, err, sqldb.CodeMoved)
}

package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// removal is a filled ledger that moves to another database again and again, behind a breaker.
type removal struct {
	t        *testing.T
	b        *breaker
	from, to sqldb.OpenOptions
	virgin   string // a copy of the new database, when that is a file
	before   string // a copy of the old journal
	row      sqldb.JournalRow
}

func removals(t *testing.T, from, to backend) *removal {
	t.Helper()
	r := &removal{t: t, b: &breaker{closes: true}, from: from.open(t), to: to.empty(t)}
	r.from.Journal, r.to.Journal = filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	filled(t, r.from)
	r.before, r.row = filepath.Join(t.TempDir(), "before"), journalRowOf(t, r.from)
	must.Do(t, os.CopyFS(r.before, os.DirFS(r.from.Journal)))
	bare := r.to
	bare.Journal = ""
	s := mustOpen(t, bare)
	must.Do(t, s.Close())
	if r.to.Driver == sqldb.SQLite {
		r.virgin = filepath.Join(t.TempDir(), "virgin.db")
		copyFile(t, r.to.DSN, r.virgin)
	}
	return r
}

// again makes the old ledger as it was before it moved, and the new one empty.
func (r *removal) again() {
	r.t.Helper()
	must.Do(r.t, os.RemoveAll(r.to.Journal), os.RemoveAll(r.from.Journal),
		os.CopyFS(r.from.Journal, os.DirFS(r.before)))
	raw(r.t, r.from, `UPDATE ledger SET moved_to = NULL`,
		fmt.Sprintf(`UPDATE journal SET seq = %d, mark = '%s'`, r.row.Seq, r.row.Mark))
	if r.virgin != "" {
		removeLedger(r.t, r.to.DSN)
		copyFile(r.t, r.virgin, r.to.DSN)
		return
	}
	queries := []string{
		`SET session_replication_role = replica`, `UPDATE ledger SET moved_from = NULL`,
		`DELETE FROM journal`,
	}
	for _, table := range movedTables {
		queries = append(queries, `DELETE FROM `+table)
	}
	raw(r.t, r.to, queries...)
}

// journalRowOf returns what a ledger with one journal stores about it.
func journalRowOf(t *testing.T, o sqldb.OpenOptions) (row sqldb.JournalRow) {
	t.Helper()
	db := must.Get(sqlx.Open(o.Driver, o.DSN))(t)
	must.Do(t, db.Get(&row, `SELECT seq, mark FROM journal`), db.Close())
	return row
}

// inNew counts the rows in the new place.
func (r *removal) inNew() (n int) {
	r.t.Helper()
	db := must.Get(sqlx.Open(r.to.Driver, r.to.DSN))(r.t)
	err := db.Get(&n, `SELECT (SELECT COUNT(*) FROM entry) + (SELECT COUNT(*) FROM audit)`)
	must.Do(r.t, err, db.Close())
	return n
}

// stands checks where a ledger is whose move failed: whole in one place and sent from there at
// most, and when it is sent from neither, that is said.
func (r *removal) stands(what string, err error) {
	r.t.Helper()
	old, there := r.sends(r.from), r.inNew()
	switch {
	case old && there > 0:
		r.t.Fatalf("%s: %d rows are in the new place, and it is sent from the old one", what, there)
	case !old && there == 0 && !strings.Contains(err.Error(), "`safrasync state copy` once more"):
		r.t.Errorf("%s: it is sent from neither place, and nobody says so: %v", what, err)
	}
}

// sends reports whether a job of a ledger may be sent from it.
func (r *removal) sends(o sqldb.OpenOptions) bool {
	r.t.Helper()
	s, err := Open(r.t.Context(), o)
	var refused *sqldb.Error
	if errors.As(err, &refused) && (refused.Code == sqldb.CodeMoved || refused.Code == sqldb.CodeCopy) {
		return false
	}
	must.Do(r.t, err)
	lease, err := s.AcquireLease(r.t.Context(), "contracts", sqldb.Self())
	must.Do(r.t, err, s.ReleaseLease(r.t.Context(), lease), s.Close())
	return true
}

// arrived checks the ledger in its new place.
func (r *removal) arrived(what string) {
	r.t.Helper()
	if r.sends(r.from) {
		r.t.Fatalf("%s: it is sent from the old place", what)
	}
	o := r.to
	o.ReadOnly = true
	s, err := Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
	want := map[string]trade.State{"a": trade.Accepted, "b": trade.InDoubt, "c": trade.InDoubt, "ção": trade.Pending}
	if diff := cmp.Diff(want, statesOf(r.t, s, "contracts")); diff != "" {
		r.t.Fatalf("%s: (-want +got)\n%s", what, diff)
	}
	mustAddUp(r.t, s, "contracts")
	must.Do(r.t, s.Close())
}

// F047, F048, F050: each call of either database fails once, alone or with all after it, while a
// ledger moves to the other: it is in the old place and is sent from there, or nothing is sent from
// either and the same command goes on. It is never sent from both, and no row is missing.
func TestEveryCallOfTheDatabasesFailsOnceWhileALedgerMoves(t *testing.T) {
	t.Parallel()
	for i, backend := range backends {
		to := backends[1-i]
		for _, lasting := range []bool{false, true} {
			t.Run(backend.name+" to "+to.name+map[bool]string{true: ", lasting"}[lasting], func(t *testing.T) {
				t.Parallel()
				r, step := removals(t, backend, to), 1
				switch {
				case !long:
					step = 151
				case lasting:
					step = 5
				}
				for at := 1 + 5*i; ; at += step {
					r.again()
					r.b.arm(at, lasting)
					_, err := move(t.Context(), r.from, r.to, r.b.tuning(), true, moveRecord)
					hit := r.b.disarm()
					if err == nil && hit == "" {
						r.arrived("without a failure")
						t.Logf("%d calls", at-1)
						return
					}
					if err != nil && hit == "" {
						t.Fatal(err)
					}
					if err != nil {
						r.stands(fmt.Sprintf("call %d (%s)", at, hit), err)
						if plan, again := Move(t.Context(), r.from, r.to, true, moveRecord); again != nil {
							t.Fatalf("the next try after call %d (%s; %v): %+v, %v", at, hit, err, plan, again)
						}
					}
					r.arrived(hit)
				}
			})
		}
	}
}

// A move that fails, and whose mark in the old ledger stays because that fails too, says what to
// do; the same command goes on.
func TestAMoveWhoseMarkCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	r := removals(t, backends[0], backends[1])
	raw(r.t, r.to, `ALTER TABLE block ADD CONSTRAINT none CHECK (tries = 0)`)
	raw(r.t, r.from,
		`CREATE TRIGGER foreign_hand BEFORE UPDATE OF moved_to ON ledger WHEN NEW.moved_to IS NULL BEGIN SELECT RAISE(ABORT, 'somebody keeps it'); END`)
	_, err := Move(t.Context(), r.from, r.to, true, moveRecord)
	says(t, err, "table block", "somebody keeps it")
	r.stands("with a foreign hand", err)
	raw(r.t, r.to, `ALTER TABLE block DROP CONSTRAINT none`)
	if plan, err := Move(t.Context(), r.from, r.to, true, moveRecord); err != nil || plan.Done {
		t.Fatalf("going on: %+v, %v", plan, err)
	}
	r.arrived("with a foreign hand")
}

// Rows that the new place does not keep as they are, or does not take, keep the ledger in the old
// one.
func TestAMoveToAPlaceThatKeepsOtherRows(t *testing.T) {
	t.Parallel()
	r := removals(t, backends[0], backends[1])
	s := mustOpen(t, r.from)
	codes := map[string]string{}
	for i := range 2 * sqldb.BulkRows {
		codes[fmt.Sprint(i)] = "f"
	}
	must.Get(s.ReplaceReferences(t.Context(), "farms", codes, nil))(t)
	must.Do(t, s.Close())
	for _, c := range []struct{ way, back, want string }{
		{
			`ALTER TABLE reference ADD CONSTRAINT none CHECK (id <> 'f')`, `ALTER TABLE reference DROP CONSTRAINT none`,
			"table reference",
		},
		{`CREATE FUNCTION foreign_hand() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.message := ''other''; RETURN NEW; END';
			CREATE TRIGGER foreign_hand BEFORE INSERT ON block FOR EACH ROW EXECUTE FUNCTION foreign_hand()`, `DROP FUNCTION foreign_hand() CASCADE`, "the two databases cannot hold the same values"},
		{`ALTER TABLE task ADD COLUMN another TEXT`, `ALTER TABLE task DROP COLUMN another`, "its columns are"},
		{
			`INSERT INTO run (id, job, started_at, report) VALUES ('r', 'contracts', 1, '{}')`,
			`DELETE FROM run`, "it has a ledger already",
		},
	} {
		raw(r.t, r.to, c.way)
		_, err := Move(t.Context(), r.from, r.to, true, moveRecord)
		says(t, err, c.want)
		if !r.sends(r.from) {
			t.Errorf("%s: it is not sent from the old place", c.want)
		}
		raw(r.t, r.to, c.back)
	}
	must.Get(Move(t.Context(), r.from, r.to, true, moveRecord))(t)
	r.arrived("in the end")
}

// Who serves the old ledger still, or a new place that is none, keeps it where it is; without its
// journal the new one is not sent from before the same command has made it.
func TestWhatKeepsALedgerFromMoving(t *testing.T) {
	t.Parallel()
	r := removals(t, backends[0], backends[1])
	s := mustOpen(t, r.from)
	release, err := s.Serve()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Move(t.Context(), r.from, r.to, true, moveRecord)
	wantCode(t, err, sqldb.CodeServed)
	must.Do(t, release(), s.Close())
	_, err = Move(t.Context(), r.from, r.from, true, moveRecord)
	wantCode(t, err, sqldb.CodeCopy)
	absent := r.from
	absent.DSN += ".absent"
	if _, err = Move(t.Context(), absent, r.to, true, moveRecord); !errors.Is(err, sqldb.ErrNoLedger) {
		t.Errorf("a ledger that is not there: %v", err)
	}
	if _, err = Move(t.Context(), r.from, sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: "nonsense"}, true,
		moveRecord); err == nil {
		t.Error("it moved to nowhere")
	}
	if err := os.WriteFile(r.to.Journal, nil, 0o600); err != nil { // where the journal's folder belongs
		t.Fatal(err)
	}
	_, err = Move(t.Context(), r.from, r.to, true, moveRecord)
	says(t, err, "the ledger is moved; its journal")
	if r.sends(r.from) {
		t.Error("it is sent from the old place")
	}
	must.Do(t, os.Remove(r.to.Journal))
	if plan, err := Move(t.Context(), r.from, r.to, true, moveRecord); err != nil || !plan.Done {
		t.Errorf("%+v, %v", plan, err)
	}
	r.arrived("with a journal")
	if found, _, err := journal.Find(r.to.Journal); err != nil || len(found) != 1 {
		t.Errorf("journals: %v, %v", found, err)
	}
}

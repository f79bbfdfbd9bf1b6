package state

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestSumsThatAreWrongOrNoNumbersAreCountedAnew(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		large := must.Get(trade.ParseDecimal(strings.Repeat("9", 38)))(t)
		for _, job := range []string{"contracts", "deliveries"} {
			lease := mustLease(t, s, job)
			for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
				e := newEntry(key)
				e.Job, e.Quantity.Amount = job, large
				mustRecord(t, s, lease, e)
			}
		}
		before := must.Get(s.Counts(t.Context(), "contracts"))(t)
		if changed, err := s.RestoreSums(t.Context(), trade.AuditRecord{}); err != nil || len(changed) > 0 {
			t.Errorf("right sums: %v, %v", changed, err)
		}
		for _, damage := range []string{
			`UPDATE tally SET volume = 'a lot' WHERE job = 'contracts'`,
			`UPDATE tally SET n = n + 1 WHERE job = 'contracts'`,
			`DELETE FROM tally WHERE job = 'contracts'`, `UPDATE tally SET unit = 'KG' WHERE job = 'contracts'`,
		} {
			must.Do(t, byHand(s, damage))
			if uneven, err := s.unevenSums(t.Context()); err != nil || !slices.Equal(uneven, []string{"contracts"}) {
				t.Errorf("%s: uneven %v, %v", damage, uneven, err)
			}
			if changed, err := s.RestoreSums(t.Context(), trade.AuditRecord{}); err != nil ||
				!slices.Equal(changed, []string{"contracts"}) {
				t.Errorf("%s: put right %v, %v", damage, changed, err)
			}
			if after, err := s.Counts(t.Context(), "contracts"); err != nil ||
				!slices.EqualFunc(before, after, sameTally) {
				t.Errorf("%s: %v, %v; want %v", damage, after, err, before)
			}
		}
	})
}

// No rule of the database lets a kept sum be NULL, and yet no value makes a ledger unreadable for
// good: a damaged file may hold anything.
func TestSumsThatAreNullAreToldAndCountedAnew(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		for _, key := range []string{"a", "b"} {
			e := newEntry(key)
			e.Job = "contracts"
			mustRecord(t, s, lease, e)
		}
		before := must.Get(s.Counts(t.Context(), "contracts"))(t)
		by := trade.AuditRecord{At: at, Who: "ana", From: "ana@srv", Act: "recount", Target: "ledger"}
		for n, column := range []string{"n", "volume"} {
			// The column of all kept sums is emptied behind the back of the database's rules.
			if s.db.D.Name == sqldb.Postgres {
				for _, q := range []string{
					`ALTER TABLE tally ALTER ` + column + ` DROP NOT NULL`,
					`UPDATE tally SET ` + column + ` = NULL`,
				} {
					must.Do(t, byHand(s, q))
				}
			} else {
				for _, script := range []string{
					`PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '` + column + ` INTEGER NOT NULL', '` + column + ` INTEGER') WHERE name = 'tally';
					UPDATE sqlite_master SET sql = replace(sql, '` + column + ` TEXT NOT NULL', '` + column + ` TEXT') WHERE name = 'tally'`,
					`UPDATE tally SET ` + column + ` = NULL`,
					`PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '` + column + ` INTEGER CONSTRAINT', '` + column + ` INTEGER NOT NULL CONSTRAINT') WHERE name = 'tally';
					UPDATE sqlite_master SET sql = replace(sql, '` + column + ` TEXT,', '` + column + ` TEXT NOT NULL,') WHERE name = 'tally'`,
				} {
					db, err := sql.Open("sqlite", s.db.Where) // each its own connection: the rules are read once
					if err == nil {
						_, err = db.Exec(script)
						err = errors.Join(err, db.Close())
					}
					must.Do(t, err)
				}
			}
			if uneven, err := s.unevenSums(t.Context()); err != nil || !slices.Equal(uneven, []string{"contracts"}) {
				t.Errorf("%s: uneven %v, %v", column, uneven, err)
			}
			_, err := s.Counts(t.Context(), "contracts")
			if err == nil || !strings.Contains(err.Error(), "safrasync doctor --recount") {
				t.Errorf("%s: the counts end with %v", column, err)
			}
			if _, err := s.JobsOfLedger(t.Context()); column == "n" &&
				(err == nil || !strings.Contains(err.Error(), "safrasync doctor --recount")) {
				t.Errorf("the jobs of the ledger end with %v", err)
			}
			if changed, err := s.RestoreSums(t.Context(), by); err != nil ||
				!slices.Equal(changed, []string{"contracts"}) {
				t.Errorf("%s: put right %v, %v", column, changed, err)
			}
			if after, err := s.Counts(t.Context(), "contracts"); err != nil ||
				!slices.EqualFunc(before, after, sameTally) {
				t.Errorf("%s: %v, %v; want %v", column, after, err, before)
			}
			if changed, err := s.RestoreSums(t.Context(), by); err != nil || len(changed) > 0 {
				t.Errorf("%s: put right again %v, %v", column, changed, err)
			}
			// Who put it right stands in the audit, once.
			acts, err := s.Audit(t.Context(), 0)
			if err != nil || len(acts) != n+1 || acts[0].Who != "ana" || acts[0].Act != "recount" ||
				acts[0].Detail != `{"jobs":["contracts"]}` {
				t.Errorf("%s: the audit has %+v, %v", column, acts, err)
			}
		}
	})
}

// The sqlite3 of Debian 12 reports the columns before the last one of a key as NULL, in a table
// like this.
func TestAnOldShellFindsNothingWrongWithTheSums(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "state.db")})
	var names []string
	if err := s.db.Read.SelectContext(t.Context(), &names,
		`SELECT name FROM pragma_table_info('tally') ORDER BY cid`); err != nil ||
		!slices.Equal(names, []string{"job", "state", "unit", "part", "n", "volume"}) {
		t.Errorf("the columns of tally are %q, %v", names, err)
	}
}

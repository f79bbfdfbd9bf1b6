package state

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
)

// problems returns what Diagnose found wrong, or worth knowing: "check problem" → whether it may
// stay.
func problems(t *testing.T, o sqldb.OpenOptions, tune sqldb.Tuning) map[string]bool {
	t.Helper()
	o.ReadOnly = true
	s := must.Get(open(context.Background(), o, tune))(t)
	defer s.Close()
	found := must.Get(s.Diagnose(t.Context(), o.Journal, true, 0))(t)
	out := map[string]bool{}
	for _, d := range found {
		if d.Problem != "" {
			out[d.Check+" "+d.Problem] = d.OK
		}
	}
	return out
}

// local is a tuning under which the test's folder is a disk of this host with room on it.
func local() sqldb.Tuning {
	tune := sqldb.DefaultTuning
	tune.FsMagic = func(string) (int64, bool) { return 0xEF53, true }
	tune.Free = func(string) (uint64, bool) { return 1 << 40, true }
	return tune
}

// Each check is broken once, and told; nothing else is.
func TestDoctorTellsEachThingThatIsBroken(t *testing.T) {
	t.Parallel()
	stale := must.Get(json.Marshal(sqldb.Self()))(t)
	mode := func(path func(k *kept) string, mode os.FileMode) func(t *testing.T, k *kept, _ *sqldb.Tuning) {
		return func(t *testing.T, k *kept, _ *sqldb.Tuning) {
			must.Do(t, os.Chmod(path(k), mode))
		}
	}
	query := func(queries ...string) func(t *testing.T, k *kept, _ *sqldb.Tuning) {
		return func(t *testing.T, k *kept, _ *sqldb.Tuning) { k.byHand(queries...) }
	}
	file := func(k *kept) string { return filepath.Join(k.dir(), "0000000000000001.journal") }
	for name, c := range map[string]struct {
		spoil func(t *testing.T, k *kept, tune *sqldb.Tuning)
		want  map[string]bool
	}{
		"all is well": {func(*testing.T, *kept, *sqldb.Tuning) {}, map[string]bool{}},
		"a damaged page": {func(t *testing.T, k *kept, _ *sqldb.Tuning) {
			k.byHand(`CREATE TABLE spoil (x TEXT)`, `INSERT INTO spoil VALUES (hex(zeroblob(20000)))`)
			whole := must.Get(os.ReadFile(k.o.DSN))(t)
			copy(whole[len(whole)-9*4096:], strings.Repeat("\xee", 4096))
			must.Do(t, os.WriteFile(k.o.DSN, whole, 0o600))
		}, map[string]bool{"integrity damaged": false}},
		"a row without its partner": {query(`INSERT INTO former (attempt, origin, generation, no, run_id, owner, epoch, target, payload_hash, started_at, finished_at, outcome, counts, late, status, messages, answer_id, reason)
			VALUES ('x', 999, 1, 1, '', '', 1, '', x'00', 1, 2, 'not_sent', 0, 0, 0, '[]', '', '')`), map[string]bool{"foreign_keys broken": false}},
		"a payload that was edited": {query(
			`UPDATE body SET payload = '{"amount":1}' WHERE entry_id = (SELECT MIN(id) FROM entry WHERE state = 'accepted')`), map[string]bool{"rows edited": false}},
		"an attempt that was edited": {
			query(
				`UPDATE exchange SET payload = '{"amount":1}' WHERE attempt = (SELECT MIN(attempt) FROM exchange)`),
			map[string]bool{"rows edited": false},
		},
		"a column that was edited": {
			query(`UPDATE body SET cells = 'x' WHERE entry_id = 1`),
			map[string]bool{"rows edited": false},
		},
		"a row whose contents are gone": {
			query(`DROP TRIGGER body_stays`, `DELETE FROM body WHERE entry_id = 1`),
			map[string]bool{"rows edited": false},
		},
		"a contract that was edited": {
			query(`UPDATE entry SET contract_id = 'x' WHERE id = 1`),
			map[string]bool{"rows edited": false},
		},
		"a weak refusal that was edited": {
			query(`UPDATE entry SET weak = 1 WHERE id = 1`),
			map[string]bool{"rows edited": false},
		},
		"a volume that was edited": {
			query(`UPDATE entry SET volume = volume + 1 WHERE id = 1`),
			map[string]bool{"rows edited": false},
		},
		"D8: an act that was altered": {query(`DROP TRIGGER audit_unchanged`,
			`UPDATE audit SET reason = 'another' WHERE seq = 1`), map[string]bool{"audit broken": false}},
		"an act that is gone": {
			query(`DROP TRIGGER audit_stays`, `DELETE FROM audit WHERE seq = 1`),
			map[string]bool{"audit broken": false},
		},
		"an older ledger": {
			query(`UPDATE journal SET seq = 2, mark = (SELECT mark FROM journal)`),
			map[string]bool{"journal unfit": false},
		},
		"a time of the future": {query(fmt.Sprintf(`UPDATE entry SET updated_at = %d WHERE id = 1`,
			time.Now().Add(time.Hour).UnixMilli())), map[string]bool{"clock future": true}},
		"a lease of a dead owner": {
			query(
				fmt.Sprintf(`UPDATE job_lease SET instance = 'x', owner = '%s', expires = 1`, stale)),
			map[string]bool{"leases dead": true},
		},
		"an attempt that stays open": {
			query(`DROP TRIGGER sent_identity`, `DROP TRIGGER sent_outcome`,
				`UPDATE sent SET started_at = 1, outcome = 'open', finished_at = NULL WHERE origin = 1`),
			map[string]bool{"attempts old": true},
		},
		"no durability": {query(`PRAGMA journal_mode = DELETE`), map[string]bool{"durability weak": false}},
		"a large -wal (F066)": {func(t *testing.T, k *kept, _ *sqldb.Tuning) {
			// A reader that never ends keeps what is written from going into the file.
			reader := sqldb.ConnectSQLite(sqldb.DefaultTuning, sqldb.SqliteDSN(k.o.DSN, "mode=rw"), 1)
			t.Cleanup(func() { _ = reader.Close() })
			hold := must.Get(reader.Begin())(t)
			t.Cleanup(func() { _ = hold.Rollback() })
			var n int
			must.Do(t, hold.QueryRow(`SELECT COUNT(*) FROM entry`).Scan(&n))
			k.byHand(`INSERT INTO reference (kind, code, id) VALUES ('farms', '1', hex(zeroblob(35000000)))`)
		}, map[string]bool{"wal large": true}},
		"little space": {func(_ *testing.T, _ *kept, tune *sqldb.Tuning) {
			tune.Free = func(string) (uint64, bool) { return 5 << 20, true }
		}, map[string]bool{"space low": false}},
		"a disk that does not last": {func(_ *testing.T, _ *kept, tune *sqldb.Tuning) {
			tune.FsMagic = func(string) (int64, bool) { return 0x01021994, true }
		}, map[string]bool{"file_system not_lasting": true}},
		"a file that others read": {
			mode(func(k *kept) string { return k.o.DSN }, 0o644),
			map[string]bool{"rights mode": false},
		},
		"a journal that others read": {mode(file, 0o640), map[string]bool{"rights mode": false}},
		"a folder that others write": {
			mode(func(k *kept) string { return filepath.Dir(k.o.DSN) }, 0o777),
			map[string]bool{"rights mode": false},
		},
		"no journal": {
			func(_ *testing.T, k *kept, _ *sqldb.Tuning) { k.o.Journal = "" },
			map[string]bool{"journal none": true},
		},
		"a journal that is gone": {func(t *testing.T, k *kept, _ *sqldb.Tuning) {
			must.Do(t, os.RemoveAll(k.o.Journal))
		}, map[string]bool{"journal unfit": false, "audit unproved": false}},
		"a damaged journal": {func(t *testing.T, k *kept, _ *sqldb.Tuning) {
			text := must.Get(os.ReadFile(file(k)))(t)
			must.Do(t, os.WriteFile(file(k), []byte(strings.Replace(string(text), "payload_hash", "payload_hasH", 1)),
				0o600))
		}, map[string]bool{"journal unfit": false, "audit unproved": false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "state.db")})
			k.sendAll("a", 3)
			for range 2 {
				must.Do(t, k.s.AppendAudit(t.Context(), rebuildAct))
			}
			k.close()
			for dir, mode := range map[string]os.FileMode{filepath.Dir(k.o.DSN): 0o700} {
				must.Do(t, os.Chmod(dir, mode))
			}
			tune := local()
			c.spoil(t, k, &tune)
			if diff := cmp.Diff(c.want, problems(t, k.o, tune)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// byHand changes the closed ledger behind the program's back.
func (k *kept) byHand(queries ...string) { k.t.Helper(); raw(k.t, k.o, queries...) }

// raw changes a database of which no process works on the ledger.
func raw(t testing.TB, o sqldb.OpenOptions, queries ...string) {
	t.Helper()
	db := must.Get(sqlx.Open(o.Driver, o.DSN))(t)
	db.SetMaxOpenConns(1)
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	must.Do(t, db.Close())
}

func TestDoctorLooksAtPostgres(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[1].open(t))
	k.sendAll("a", 3)
	if diff := cmp.Diff(map[string]bool{}, problems(t, k.o, local())); diff != "" {
		t.Errorf("problems of a sound ledger (-want +got):\n%s", diff)
	}
	must.Do(t, byHand(k.s, `UPDATE entry SET amount = '7' WHERE state = 'accepted'`))
	if diff := cmp.Diff(map[string]bool{"rows edited": false}, problems(t, k.o, local())); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// What takes longer than somebody wants to wait is said to be unknown, never to be well or at
// fault; nothing else is lost for it.
func TestADoctorInAHurrySaysWhatItDidNotLookAt(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("a"), newEntry("b"))
		whole := must.Get(s.Diagnose(t.Context(), "", false, 0))(t)
		hurried, err := s.Diagnose(t.Context(), "", false, 1)
		if err != nil || len(hurried) != len(whole) {
			t.Fatalf("%d of %d looks, %v", len(hurried), len(whole), err)
		}
		long := 0
		for i, d := range hurried {
			if d.Check != whole[i].Check || !d.OK {
				t.Errorf("%+v, want %+v", d, whole[i])
			}
			if d.Problem == ProblemLong {
				long++
			}
		}
		if long < 5 {
			t.Errorf("%d looks ended early: %+v", long, hurried)
		}
		patient, err := s.Diagnose(t.Context(), "", false, time.Hour)
		if err != nil || !reflect.DeepEqual(patient, whole) {
			t.Errorf("with time enough: %+v, %v, want %+v", patient, err, whole)
		}
		counts, err := s.Extent(t.Context(), 1)
		if err != nil || counts["rows.entry"] != notCounted {
			t.Errorf("%v, %v", counts, err)
		}
		if counts, err = s.Extent(t.Context(), time.Hour); err != nil || counts["rows.entry"] != 2 {
			t.Errorf("%v, %v", counts, err)
		}
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Diagnose(stopped, "", false, time.Hour); err == nil {
			t.Error("who gives up is told that all is well")
		}
	})
}

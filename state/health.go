package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/safrasync/safrasync/state/sqldb"
)

// Finding is one line of `safrasync check` about the ledger.
type Finding struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	OK    bool   `json:"ok"`
	Hint  string `json:"hint,omitempty"` // what to do if it is not OK, or what is worth knowing
}

// Health describes the state of the ledger: driver, place, versions, durability, file system, free
// space. It contains no secrets. It returns an error if the ledger cannot be read.
func (s *Store) Health(ctx context.Context) ([]Finding, error) {
	out := []Finding{
		{Name: "driver", Value: s.db.D.Name, OK: true},
		{Name: "place", Value: s.db.Where, OK: true},
		{Name: "ledger id", Value: s.db.ID, OK: true},
	}
	schema, err := s.db.SchemaVersion(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, Finding{Name: "schema", Value: strconv.FormatInt(schema, 10), OK: true})
	var more []Finding
	if s.db.D.Name == sqldb.Postgres {
		more, err = s.healthPostgres(ctx)
	} else {
		more, err = s.healthSQLite(ctx)
	}
	return append(out, more...), err
}

func (s *Store) healthPostgres(ctx context.Context) ([]Finding, error) {
	var out []Finding
	for _, name := range []string{"server_version", "fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := s.db.Get(ctx, "looking at the ledger", &value, `SELECT current_setting(?)`, name); err != nil {
			return nil, err
		}
		f := Finding{Name: name, Value: value, OK: value != "off"}
		if !f.OK {
			f.Hint = "set " + name + " = on in postgresql.conf and reload the server"
		}
		out = append(out, f)
	}
	server, err := s.healthServer(ctx)
	return append(out, server), err
}

func (s *Store) healthSQLite(ctx context.Context) ([]Finding, error) {
	const op = "looking at the ledger"
	var version, journal string
	if err := s.db.Get(ctx, op, &version, `SELECT sqlite_version()`); err != nil {
		return nil, err
	}
	if err := s.db.Get(ctx, op, &journal, `PRAGMA journal_mode`); err != nil {
		return nil, err
	}
	out := []Finding{
		{
			Name: "SQLite", Value: version, OK: !sqldb.OlderVersion(version, sqldb.OldestSQLite),
			Hint: hintIf(sqldb.OlderVersion(version, sqldb.OldestSQLite), "need "+sqldb.OldestSQLite),
		},
	}
	if s.db.Memory {
		return append(out, Finding{Name: "durability", Value: "none", Hint: "a ledger in memory is for trials only"}),
			nil
	}
	out = append(out, Finding{
		Name: "journal mode", Value: journal, OK: journal == "wal",
		Hint: hintIf(journal != "wal", "open the ledger once for writing"),
	})
	if !s.db.ReadOnly { // synchronous is a property of the connection that writes
		var synchronous int
		if err := s.db.Write.GetContext(ctx, &synchronous, `PRAGMA synchronous`); err != nil {
			return nil, s.db.Fault(ctx, op, err)
		}
		out = append(out, Finding{
			Name: "synchronous", Value: strconv.Itoa(synchronous), OK: synchronous == 2,
			Hint: hintIf(synchronous != 2, "need 2 (FULL)"),
		})
	}
	damage, err := s.quickCheck(ctx)
	if err != nil {
		return nil, err
	}
	return append(append(out, damage), s.healthFile()...), nil
}

// quickCheck looks for damage in the file for at most Tuning.Check: reading all of a ledger of ten
// seasons takes minutes.
func (s *Store) quickCheck(ctx context.Context) (Finding, error) {
	f := Finding{Name: "quick check", Value: "ok", OK: true}
	limited, cancel := context.WithTimeout(ctx, s.db.Tune.Check)
	defer cancel()
	err := s.verify(limited)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return f, err
	case limited.Err() != nil:
		f.Value = fmt.Sprintf("nothing found in %s; the file is large: `safrasync doctor` reads all of it",
			s.db.Tune.Check)
	default:
		f.OK, f.Value, f.Hint = false, "damaged", err.Error()
	}
	return f, nil
}

func (s *Store) healthFile() []Finding {
	var out []Finding
	dir := filepath.Dir(s.db.Where)
	if magic, ok := s.db.Tune.FsMagic(dir); ok {
		name, lasting := sqldb.FileSystemName(magic)
		out = append(out, Finding{
			Name: "file system", Value: name, OK: lasting,
			Hint: hintIf(!lasting,
				"the ledger is gone with this container or at the next start of the machine: use a disk"),
		})
	}
	if free, ok := sqldb.FreeBytes(dir); ok {
		out = append(out, Finding{
			Name: "free space", Value: fmt.Sprintf("%d bytes", free), OK: free >= sqldb.LowSpace,
			Hint: hintIf(free < sqldb.LowSpace, "free space on the disk"),
		})
	}
	wal := walSize(s.db.Where)
	return append(out, Finding{
		Name: "write-ahead log", Value: fmt.Sprintf("%d bytes", wal), OK: wal <= walLimit,
		Hint: hintIf(wal > walLimit,
			"a reader that never ends keeps it growing: look for a backup or a shell that has the file open"),
	})
}

func hintIf(wanted bool, hint string) string {
	if wanted {
		return hint
	}
	return ""
}

// verify reads the whole SQLite file and returns an error if it is damaged (F049). PostgreSQL
// checks its own pages.
func (s *Store) verify(ctx context.Context) error {
	if s.db.D.Name != sqldb.SQLite {
		return nil
	}
	var first string
	if err := s.db.Get(ctx, "checking the ledger", &first, "PRAGMA quick_check(1)"); err != nil {
		return err
	}
	if first != "ok" {
		e := &sqldb.Error{Path: s.db.Where, Err: errors.New("the file is damaged")}
		sqldb.DescribeSQLite(e, sqldb.SqliteCorrupt)
		return e
	}
	return nil
}

// walLimit is the size of the write-ahead log in bytes above which Health reports it. A reader that
// never ends keeps the log growing (F066).
const walLimit = 64 << 20

func walSize(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// healthServer compares the server that the ledger is on with the server that it has recorded. It
// also reports which parts of the server's identity the role may not read.
func (s *Store) healthServer(ctx context.Context) (Finding, error) {
	f := Finding{Name: "server", OK: true}
	now, err := s.db.LedgerState(ctx)
	if err != nil {
		return f, err
	}
	var standby bool
	if err := s.db.Get(ctx, "looking which server has the ledger", &standby, `SELECT pg_is_in_recovery()`); err != nil {
		return f, err
	}
	missing, err := s.db.Missing(ctx, now)
	if err != nil {
		return f, err
	}
	f.Value = sqldb.ServerText(now.Server)
	var other *sqldb.Error
	switch p := sqldb.ServerParts(now.Server); {
	case standby:
		f.OK, f.Value, f.Hint = false, "a standby, from which nothing can be sent", sqldb.PrimaryHint
	case errors.As(s.db.Unconfirmed(sqldb.Confirmed{Term: now.Term}, now, missing), &other):
		f.OK, f.Value, f.Hint = false, other.Err.Error(), other.Hint
	case p[0] == sqldb.Unread:
		f.Hint = "another server would not be noticed: GRANT EXECUTE ON FUNCTION pg_control_system() TO the role of state.dsn"
	case p[1] == sqldb.Unread:
		f.Hint = "the promotion of a replica would not be noticed: GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn), pg_current_wal_lsn() TO the role of state.dsn"
	}
	return f, nil
}

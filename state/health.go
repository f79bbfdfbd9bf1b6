package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Finding is one line of `safrasync check` about the ledger.
type Finding struct {
	Name  string
	Value trade.Sentence
	OK    bool
	Hint  trade.Sentence // what to do if it is not OK, or what is worth knowing
}

// plain is a value that is the same in every language.
func plain(value any) trade.Sentence { return trade.Say("ledger.plain", "value", value) }

// Health describes the state of the ledger: driver, place, versions, durability, file system, free
// space. It contains no secrets. It returns an error if the ledger cannot be read.
func (s *Store) Health(ctx context.Context) ([]Finding, error) {
	schema, err := s.db.SchemaVersion(ctx)
	if err != nil {
		return nil, err
	}
	out := []Finding{
		{Name: "driver", Value: plain(s.db.D.Name), OK: true},
		{Name: "place", Value: plain(s.db.Where), OK: true},
		{Name: "ledger_id", Value: plain(s.db.ID), OK: true},
		{Name: "schema", Value: plain(strconv.FormatInt(schema, 10)), OK: true},
	}
	if s.db.D.Name == sqldb.Postgres {
		more, err := s.healthPostgres(ctx)
		return append(out, more...), err
	}
	version, journal, err := s.sqliteSettings(ctx)
	if err != nil {
		return nil, err
	}
	// add adds a finding, with what to do if it is not well.
	add := func(name string, value trade.Sentence, well bool, hint trade.Sentence) {
		if well {
			hint = trade.Sentence{}
		}
		out = append(out, Finding{name, value, well, hint})
	}
	add("sqlite", plain(version), !sqldb.OlderVersion(version, sqldb.OldestSQLite),
		trade.Say("ledger.need", "value", sqldb.OldestSQLite))
	if s.db.Memory {
		add("durability", trade.Say("ledger.none"), false, trade.Say("ledger.in_memory"))
		return out, nil
	}
	add("journal_mode", plain(journal), journal == "wal", trade.Say("ledger.open_to_write"))
	if !s.db.ReadOnly { // synchronous is a property of the connection that writes
		var synchronous int
		if err := s.db.Write.GetContext(ctx, &synchronous, `PRAGMA synchronous`); err != nil {
			return nil, s.db.Fault(ctx, "looking at the ledger", err)
		}
		add("synchronous", plain(strconv.Itoa(synchronous)), synchronous == 2, trade.Say("ledger.need", "value", "2 (FULL)"))
	}
	// Damage in the file is looked for in each way for at most Tuning.Check: reading all of a
	// ledger of ten seasons takes minutes.
	damage := Finding{Name: "quick_check", Value: plain("ok"), OK: true}
	for _, look := range []func(context.Context) error{s.verifyIDs, s.verifyPages} {
		limited, cancel := context.WithTimeout(ctx, s.db.Tune.Check)
		err := look(limited)
		late := limited.Err() != nil
		cancel()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, err
		case late:
			damage.Value = trade.Say("ledger.large", "time", s.db.Tune.Check)
		default:
			damage.OK, damage.Value, damage.Hint = false, trade.Say("ledger.damaged"), trade.Because(err)
		}
		if !damage.OK {
			break
		}
	}
	out = append(out, damage)
	dir := filepath.Dir(s.db.Where)
	if magic, ok := s.db.Tune.FsMagic(dir); ok {
		name, lasting := sqldb.FileSystemName(magic)
		add("file_system", plain(name), lasting, trade.Say("ledger.not_lasting"))
	}
	for _, space := range s.spacesOf([]string{dir}) {
		add("free_space", trade.Say("ledger.bytes", "bytes", space.Free), !space.Low, trade.Say("ledger.free_space"))
	}
	wal := walSize(s.db.Where)
	add("wal", trade.Say("ledger.bytes", "bytes", wal), wal <= walLimit, trade.Say("ledger.wal"))
	return out, nil
}

func (s *Store) healthPostgres(ctx context.Context) ([]Finding, error) {
	var out []Finding
	for _, name := range []string{"server_version", "fsync", "synchronous_commit", "full_page_writes", "jit"} {
		var value string
		if err := s.db.Get(ctx, "looking at the ledger", &value, `SELECT current_setting(?)`, name); err != nil {
			return nil, err
		}
		f := Finding{Name: name, Value: plain(value), OK: value != "off" || name == "jit"}
		switch {
		case !f.OK:
			f.Hint = trade.Say("ledger.set_on", "name", name)
		case name == "jit" && value != "off":
			f.Hint = trade.Say("ledger.jit")
		}
		out = append(out, f)
	}
	var asynchronous int // replicas for which no commit waits
	if err := s.db.Get(ctx, "looking at the ledger", &asynchronous, `SELECT COUNT(*) FROM pg_stat_replication
		WHERE application_name <> 'pg_basebackup' AND (current_setting('synchronous_standby_names') = '' OR
			current_setting('synchronous_commit') = 'local')`); err != nil {
		return nil, err
	}
	if asynchronous > 0 {
		out = append(out, Finding{
			Name: "replicas", Value: trade.Say("ledger.asynchronous", "count", asynchronous), OK: true,
			Hint: trade.Say("ledger.make_synchronous"),
		})
	}
	// A full disk of the server, which reading the ledger does not meet: sorting a megabyte in less
	// memory writes it beside the tables.
	err := s.db.AtOneMoment(ctx, func(t *sqlx.Tx) error {
		var set string
		var sorted int
		err := t.GetContext(ctx, &set, `SELECT set_config('work_mem', '64kB', TRUE) || set_config('temp_tablespaces', '', TRUE)`)
		if err != nil {
			return err
		}
		return t.GetContext(ctx, &sorted, `SELECT COUNT(*) FROM (SELECT repeat(md5(CAST(n AS TEXT)), 32)
			FROM generate_series(1, 1024) n ORDER BY 1) t`)
	})
	err = s.db.Fault(ctx, "looking at the ledger", err)
	var known *sqldb.Error
	switch {
	case errors.As(err, &known) && known.Code == sqldb.CodeFull:
		out = append(out, Finding{Name: "disk", Value: trade.Because(known.Err), Hint: trade.Because(known.Hint)})
	case err != nil:
		return nil, err
	}
	server, err := s.healthServer(ctx)
	return append(out, server), err
}

// sqliteSettings returns the version of SQLite and the mode of its log.
func (s *Store) sqliteSettings(ctx context.Context) (version, journal string, err error) {
	const op = "looking at the ledger"
	if err = s.db.Get(ctx, op, &version, `SELECT sqlite_version()`); err == nil {
		err = s.db.Get(ctx, op, &journal, `PRAGMA journal_mode`)
	}
	return version, journal, err
}

// verify reads the whole SQLite file and returns an error if it is damaged (F049). PostgreSQL
// checks its own pages.
func (s *Store) verify(ctx context.Context) error {
	if s.db.D.Name != sqldb.SQLite {
		return nil
	}
	if err := s.verifyPages(ctx); err != nil {
		return err
	}
	return s.verifyIDs(ctx)
}

// verifyIDs compares the platform's ids in the records with those in their index, 3 s for a million: a
// flipped bit leaves a sound page, and the next request would name a record that does not exist.
func (s *Store) verifyIDs(ctx context.Context) error {
	var flipped int
	err := s.db.Get(ctx, "checking the ledger", &flipped, `SELECT COUNT(*) FROM (
		SELECT kind, remote_id, id FROM sent NOT INDEXED WHERE remote_id <> '' EXCEPT
		SELECT kind, remote_id, id FROM sent INDEXED BY sent_one_remote WHERE remote_id <> '')`)
	if err != nil || flipped == 0 {
		return err
	}
	e := &sqldb.Error{Path: s.db.Where, Err: phrase.Errorf(
		"%d of the ids of the platform are not what was stored", flipped)}
	sqldb.DescribeSQLite(e, sqldb.SqliteCorrupt)
	return e
}

func (s *Store) verifyPages(ctx context.Context) error {
	first, err := s.damage(ctx, "PRAGMA quick_check(1)")
	if err != nil || first == "" {
		return err
	}
	e := &sqldb.Error{Path: s.db.Where, Err: errors.New("the file is damaged")}
	sqldb.DescribeSQLite(e, sqldb.SqliteCorrupt)
	return e
}

// damage returns the first damage that a check of SQLite finds; "" if there is none.
func (s *Store) damage(ctx context.Context, check string) (first string, err error) {
	var lines []string
	err = s.db.All(ctx, "checking the ledger", &lines, check)
	if len(lines) > 0 && lines[0] != "ok" {
		first = lines[0]
	}
	return first, err
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
	if standby {
		return Finding{
			Name: "server", Value: trade.Say("ledger.standby"), Hint: trade.Because(phrase.New(sqldb.PrimaryHint)),
		}, nil
	}
	unsettled := s.db.Peek(ctx, "looking which server has the ledger", func(t *sqldb.Tx) error {
		return t.Unsettled(sqldb.Confirmed{Term: now.Term}, now)
	})
	f.Value = plain(sqldb.ServerText(now.Server))
	var other *sqldb.Error
	if errors.As(unsettled, &other) && other.Code != sqldb.CodeServer && other.Code != sqldb.CodeRolledBack {
		return f, unsettled // it was not read
	}
	switch p := sqldb.ServerParts(now.Server); {
	case errors.As(unsettled, &other):
		f.OK, f.Value, f.Hint = false, trade.Because(other.Err), trade.Because(other.Hint)
	case p[0] == sqldb.Unread:
		f.Hint = trade.Say("ledger.server_unread")
	case p[1] == sqldb.Unread:
		f.Hint = trade.Say("ledger.promotion_unread")
	}
	return f, nil
}

package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/internal/phrase"
)

// SchemaTable is the table of the applied migrations. It has its own name, so that migrations of
// another program in the same database are not taken for ours.
const SchemaTable = "safrasync_migration"

// FormerSchemaTable is the same table in ledgers from before the first release, whose schema was
// different.
const FormerSchemaTable = "safrasync_schema"

// formerIndex is an index that only ledgers have that do not know of which season a row is.
const formerIndex = "listing_product"

// formerTable is a table that only ledgers have in which browsers stand in a table of their own.
const formerTable = "login_device"

// ourTables are the tables of the newest schema.
var ourTables = []string{
	"ledger", "journal", "tx_mark", "audit", "entry", "body", "listing", "sent", "former",
	"exchange", "attempt", "sighting", "run",
	"job_kind", "job_moved",
	"job_cursor",
	"job_lease", "job_status", "reference", "block",
	"alert", "alert_message", "service", "task", "instance",
	"person", "login", "cause_owner",
	"closing", "closing_part",
	"webhook", "inbox", "heard", "candidate", "feed", "change",
	"zone", "linhas", "tentativas", "rows", "attempts",
}

// Migrate brings the schema up to date, in one transaction. Several programs may start at once.
func (s *DB) Migrate(ctx context.Context, o OpenOptions) error {
	known, err := NewestSchema()
	if err != nil {
		return err
	}
	have, err := s.SchemaVersion(ctx)
	switch {
	case err != nil:
		return err
	case have == known:
		return nil
	}
	if err := s.JudgeSchema(have, known, o); err != nil {
		return err
	}
	return s.Up(ctx, Migrations, known)
}

// JudgeSchema returns an error if the schema differs from the program's and this call may not
// migrate it.
func (s *DB) JudgeSchema(have, known int64, o OpenOptions) error {
	switch {
	case have > known:
		return s.Refuse(CodeNewer,
			phrase.Errorf("ledger schema %d, this program knows %d", have, known),
			phrase.New("install the newer program or restore the backup"))
	case s.ReadOnly && have > 0:
		return s.Refuse(CodeOlder,
			phrase.Errorf("ledger schema %d, this program needs %d", have, known),
			phrase.New("start `safrasync run`, or `safrasync sync`, once: it brings the ledger up to date"))
	case have == 0:
		return o.MayBegin(s.Where, "the database has no tables of safrasync")
	}
	return nil
}

// NewestSchema returns the number of the last migration that this program has.
func NewestSchema() (int64, error) {
	files, err := fs.Glob(Migrations, migrationFiles)
	return int64(len(files)), err // see TestMigrationsAreNumberedWithoutAGap
}

// Up applies the migrations of a file system that the schema lacks. Statements have no time limit,
// because creating an index of a large ledger takes longer than a statement of a run may: a limit
// would end the migration again at each start, and the program would never start.
func (s *DB) Up(ctx context.Context, folder fs.FS, known int64) (err error) {
	const op = "bringing the ledger's schema up to date"
	db := s.Write
	if s.unhurried != nil {
		db = s.unhurried()
		defer phrase.Join(&err, db.Close)
	}
	if err = failpoint.Hit("schema.old"); err == nil {
		err = s.inOneTx(ctx, db, func(t *Tx) error { return t.apply(folder, known) })
	}
	if err == nil {
		err = failpoint.Hit("schema.new")
	}
	if err == nil {
		return nil
	}
	// The commit may have taken effect although its answer was lost.
	if have, lookErr := s.SchemaVersion(ctx); lookErr == nil && have == known {
		return nil
	}
	return s.Fault(ctx, op, err)
}

// alone makes this transaction the only one that migrates. In SQLite it is the only one from its
// BEGIN IMMEDIATE on. In PostgreSQL a second one waits as long as the service's unit allows for a
// start.
const alone = `SET LOCAL lock_timeout = '900s'; SELECT pg_advisory_xact_lock(5961637); SET LOCAL lock_timeout = %d`

// apply runs each migration that the schema lacks, in the words of the database, and records its
// number. Each file is run as one text: both databases split the statements themselves.
func (t *Tx) apply(folder fs.FS, known int64) error {
	if t.S.D.Name == Postgres {
		if err := t.Script(fmt.Sprintf(alone, LockTimeout.Milliseconds())); err != nil {
			return err
		}
	}
	if err := t.Do(`CREATE TABLE IF NOT EXISTS ` + SchemaTable +
		` (version_id BIGINT NOT NULL PRIMARY KEY, is_applied BOOLEAN NOT NULL)`); err != nil {
		return err
	}
	have, err := lastMigration(t.Ctx, t)
	if err != nil {
		return err
	}
	if have > known { // a newer program migrated first
		return t.S.JudgeSchema(have, known, OpenOptions{})
	}
	names, err := fs.Glob(folder, migrationFiles)
	if err != nil {
		return err
	}
	for ; have < int64(len(names)); have++ {
		name := names[have] // they are sorted by number
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		script, err := t.S.D.expand(name, string(text))
		if err == nil {
			err = t.Script(script)
		}
		if err != nil {
			return phrase.Errorf("%s: %w", path.Base(name), err)
		}
		if err := t.Do(`INSERT INTO `+SchemaTable+` (version_id, is_applied) VALUES (?, TRUE)`, have+1); err != nil {
			return err
		}
	}
	return nil
}

// SchemaVersion returns the number of the last migration that was applied, or 0 if the database is
// empty. It returns an error for a database of another program.
func (s *DB) SchemaVersion(ctx context.Context) (int64, error) {
	var names []string
	if err := s.Write.SelectContext(ctx, &names, s.D.Tables); err != nil {
		return 0, s.Fault(ctx, "opening the ledger", err)
	}
	if err := foreign(names, s.Where, s.D.Name == SQLite); err != nil {
		return 0, err
	}
	if !slices.Contains(names, SchemaTable) {
		return 0, nil
	}
	version, err := lastMigration(ctx, s.Write)
	return version, s.Fault(ctx, "opening the ledger", err)
}

func lastMigration(ctx context.Context, from sqlx.QueryerContext) (version int64, err error) {
	err = sqlx.GetContext(ctx, from, &version, `SELECT COALESCE(MAX(version_id), 0) FROM `+SchemaTable)
	return version, err
}

// FormerFormat returns the error for a ledger, or a journal, in the form of before the first release: by its
// fingerprints nothing would be found again.
func FormerFormat(where string) error {
	return Refuse(CodeForeign, where,
		errors.New("it has the form of before the first release, which this program does not read"),
		phrase.New("keep this ledger, and the program that wrote it, for what it has sent; nothing of it can be brought over: `safrasync state new` begins one elsewhere, where nothing was sent yet"))
}

// foreign returns an error for a database that has tables but not our schema. A PostgreSQL database
// may hold tables of other programs beside ours, if their names differ; a SQLite file must be ours
// alone.
func foreign(names []string, where string, alone bool) error {
	ours := slices.Contains(names, SchemaTable)
	former := slices.Contains(names, FormerSchemaTable) || ours && slices.Contains(names, formerIndex) ||
		ours && slices.Contains(names, formerTable) ||
		ours && slices.Contains(names, "entry") &&
			(!slices.Contains(names, "sent") || !slices.Contains(names, "body"))
	switch {
	case ours && !former:
		return nil
	case former:
		return FormerFormat(where)
	}
	others := names
	if !alone {
		others = slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return !slices.Contains(ourTables, name) })
	}
	if len(others) == 0 {
		return nil
	}
	slices.Sort(others)
	if len(others) > 3 {
		others = append(others[:3:3], "…")
	}
	return Refuse(CodeForeign, where,
		phrase.Errorf("it is not a ledger of safrasync, but has tables of the same kind: %s",
			strings.Join(others, ", ")),
		phrase.New("point state.dsn at a database of its own (for PostgreSQL a schema of its own will do)"))
}

package sqldb

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/safrasync/safrasync/internal/failpoint"
)

// Migrations are the schemas of both databases.
//
//go:embed migrations
var Migrations embed.FS

// SchemaTable is where the applied migrations are noted. Its own name, so that another program's
// migrations in the same database are not taken for ours.
const SchemaTable = "safrasync_migration"

// FormerSchemaTable is that of the ledgers of before the first release, which had another form.
const FormerSchemaTable = "safrasync_schema"

// ourTables are the tables of the newest schema.
var ourTables = []string{
	"ledger", "journal", "tx_mark", "audit", "move", "entry", "attempt", "run", "job_kind", "job_moved", "job_cursor",
	"job_lease", "job_status", "reference", "block", "tally",
	"alert", "alert_message", "digest", "service", "task", "instance",
	"person", "login", "login_device", "login_tries", "saved_filter",
	"closing", "closing_part",
	"webhook", "inbox", "heard", "candidate",
	"zone", "linhas", "tentativas", "rows", "attempts",
}

// Migrate brings the schema up to date. Each migration is one transaction; several programs may
// start at once.
func (s *DB) Migrate(ctx context.Context, o Options) error {
	folder, err := fs.Sub(Migrations, s.D.Goose)
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	known, err := s.NewestSchema()
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
	return s.Up(ctx, folder, known)
}

// JudgeSchema refuses a ledger of another schema than the program's that this call may not bring up
// to date.
func (s *DB) JudgeSchema(have, known int64, o Options) error {
	switch {
	case have > known:
		return &Error{
			Code: CodeNewer, Path: s.Where, Hint: "install the newer program or restore the backup",
			Err: fmt.Errorf("ledger schema %d, this program knows %d", have, known),
		}
	case s.ReadOnly && have > 0:
		return &Error{
			Code: CodeOlder, Path: s.Where,
			Hint: "start `safrasync run`, or `safrasync sync`, once: it brings the ledger up to date",
			Err:  fmt.Errorf("ledger schema %d, this program needs %d", have, known),
		}
	case have == 0:
		return o.MayBegin(s.Where, "the database has no tables of safrasync")
	}
	return nil
}

// NewestSchema gives the number of the last migration that this program has.
func (s *DB) NewestSchema() (int64, error) {
	files, err := fs.Glob(Migrations, s.D.Goose+"/*.sql")
	if err != nil || len(files) == 0 {
		return 0, errors.New("opening the ledger: the program has no migrations")
	}
	// 00001_ledger.sql: see TestMigrationsAreNumberedWithoutAGap
	number, _, _ := strings.Cut(path.Base(slices.Max(files)), "_")
	return strconv.ParseInt(number, 10, 64)
}

// Up applies what a folder has beyond the ledger's schema. To make an index of a large ledger takes
// longer than any statement of a run may: what ended such a statement would end it again at each
// start, and the program would never work again.
func (s *DB) Up(ctx context.Context, folder fs.FS, known int64) (err error) {
	const op = "bringing the ledger's schema up to date"
	options := []goose.ProviderOption{
		goose.WithLogger(goose.NopLogger()), goose.WithTableName(SchemaTable), goose.WithDisableGlobalRegistry(true),
	}
	kind := goose.DialectSQLite3
	if s.D.Name == Postgres {
		kind = goose.DialectPostgres
		// Who finds another at it waits as long as the service's unit lets a start take.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(0x5AF7A5), lock.WithLockTimeout(1, 900))
		if err != nil {
			return s.Fault(ctx, op, err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	} else {
		steps, err := StepsOf(folder)
		if err != nil {
			return s.Fault(ctx, op, err)
		}
		options, folder = append(options, goose.WithGoMigrations(steps...)), nil
	}
	db := s.Write
	if s.unhurried != nil {
		if db, err = s.unhurried(); err != nil {
			return s.Fault(ctx, op, err)
		}
		defer func() { err = errors.Join(err, db.Close()) }()
	}
	provider, err := goose.NewProvider(kind, db.DB, folder, options...)
	if err != nil {
		return s.Fault(ctx, op, err)
	}
	// SQLite has no lock that spans the look at the version and the migration. A program that loses
	// the race finds in its transaction that the migration was applied meanwhile (inItsTx); the
	// transaction is undone, and the next look finds the work done.
	for tries := 0; ; tries++ {
		if err := failpoint.Hit("schema.old"); err != nil {
			return s.Fault(ctx, op, err)
		}
		if _, err = provider.Up(ctx); err == nil {
			err = failpoint.Hit("schema.new")
		}
		if err == nil {
			return nil
		}
		if have, lookErr := s.SchemaVersion(ctx); lookErr == nil && have == known {
			return nil
		}
		if tries == 20 || s.D.Name == Postgres || !s.pause(ctx, 50*time.Millisecond) {
			return s.Fault(ctx, op, err)
		}
	}
}

// StepsOf gives the migrations of a folder, each with its whole file as one text: SQLite finds by
// itself where a statement ends, and under the race detector of the tests goose took longer to find
// it than SQLite to run it. In PostgreSQL goose applies them itself, each statement alone.
func StepsOf(folder fs.FS) ([]*goose.Migration, error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	var steps []*goose.Migration
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, goose.NewGoMigration(version,
			&goose.GoFunc{RunTx: inItsTx(version, name, string(text))}, nil))
	}
	return steps, nil
}

// SchemaVersion gives the number of the last migration that was applied; 0 when the database is
// empty. A database of something else is refused.
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
	var version int64
	err := s.Write.GetContext(ctx, &version, `SELECT COALESCE(MAX(version_id), 0) FROM `+SchemaTable+
		` WHERE is_applied`)
	return version, s.Fault(ctx, "opening the ledger", err)
}

// foreign refuses a database that has tables but no schema of ours. A PostgreSQL database may hold
// other programs' tables beside ours, as long as they have other names; a SQLite file is ours
// alone.
func foreign(names []string, where string, alone bool) error {
	switch {
	case slices.Contains(names, SchemaTable):
		return nil
	case slices.Contains(names, FormerSchemaTable):
		return &Error{
			Code: CodeForeign, Path: where,
			Hint: "keep this ledger, and the program that wrote it, for what it has sent; nothing of it can be brought over: `safrasync state new` begins one elsewhere, where nothing was sent yet",
			Err:  errors.New("it has the form of before the first release, which this program does not read"),
		}
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
	return &Error{
		Code: CodeForeign, Path: where,
		Hint: "point state.dsn at a database of its own (for PostgreSQL a schema of its own will do)",
		Err: fmt.Errorf("it is not a ledger of safrasync, but has tables of the same kind: %w",
			errors.New(strings.Join(others, ", "))),
	}
}

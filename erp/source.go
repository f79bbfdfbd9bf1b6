package erp

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
)

// Source is an ERP database opened for reading. It may be used by several
// goroutines at once.
type Source struct {
	db  *sqlx.DB
	d   dialect
	opt Options
}

// Open connects and looks at the database once, so that a wrong address,
// password, database or file is reported here and clearly.
func Open(ctx context.Context, opt Options) (*Source, error) {
	opt = opt.withDefaults()
	cs, bad := findCharset(opt.Charset)
	if bad != nil {
		return nil, bad
	}
	s := &Source{opt: opt}
	switch opt.Driver {
	case DriverPostgres:
		db, p, err := openPostgres(opt, cs)
		if err != nil {
			return nil, err
		}
		s.db, s.d = db, p
		var encoding string
		if err := db.GetContext(ctx, &encoding, "SHOW server_encoding"); err != nil {
			_ = db.Close() // the reason is more telling
			return nil, p.problem(ctx, err, statement{}, -1)
		}
		p.bytesMode = encoding == "SQL_ASCII"
	case DriverSQLite:
		db, lite, err := openSQLite(opt, cs)
		if err != nil {
			return nil, err
		}
		s.db, s.d = db, lite
		var tables int
		if err := db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_master"); err != nil {
			_ = db.Close() // the reason is more telling
			return nil, lite.problem(ctx, err, statement{}, -1)
		}
	default:
		return nil, failf(CodeConfig, "unknown erp.driver %q: use postgres or sqlite", opt.Driver)
	}
	return s, nil
}

// Close ends all connections.
func (s *Source) Close() error {
	if err := s.db.Close(); err != nil {
		return failf(CodeOther, "closing the ERP database failed")
	}
	return nil
}

// Target names the database for people: host:port/name or the file's path,
// never a user or password.
func (s *Source) Target() string {
	switch d := s.d.(type) {
	case *postgres:
		return d.target
	case *sqlite:
		return d.path
	default:
		return ""
	}
}

// Charset is the encoding in which the database keeps text: PostgreSQL's
// server_encoding, or SQLite's. "SQL_ASCII" means that it does not know, and
// deserves a warning: see Options.Charset.
func (s *Source) Charset(ctx context.Context) (string, error) {
	query := "SHOW server_encoding"
	if s.d.syntax() == sqliteSyntax {
		query = "PRAGMA encoding"
	}
	var encoding string
	if err := s.db.GetContext(ctx, &encoding, query); err != nil {
		return "", s.d.problem(ctx, err, statement{}, -1)
	}
	return encoding, nil
}

// Facts are what a check of the installation wants to know of the database.
type Facts struct {
	// Version of the server or library.
	Version string
	// Charset as Source.Charset gives it.
	Charset string
	// ServerTime is the database's clock.
	ServerTime time.Time
	// SeesTransactions tells whether the reading role sees when the open
	// transactions of others began. Without it (PostgreSQL: grant
	// pg_read_all_stats) only the lookback covers rows that commit late.
	SeesTransactions bool
}

// Facts asks the database about itself.
func (s *Source) Facts(ctx context.Context) (Facts, error) {
	query := "SELECT current_setting('server_version'), pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')"
	if s.d.syntax() == sqliteSyntax {
		query = "SELECT sqlite_version(), 0"
	}
	var f Facts
	err := s.db.QueryRowxContext(ctx, query).Scan(&f.Version, &f.SeesTransactions)
	if err != nil {
		return Facts{}, s.d.problem(ctx, err, statement{}, -1)
	}
	if f.Charset, err = s.Charset(ctx); err != nil {
		return Facts{}, err
	}
	err = s.inTx(ctx, func(c clock, _ readTx) error {
		f.ServerTime = c.now
		return nil
	})
	if err != nil {
		return Facts{}, err
	}
	return f, nil
}

// Columns describes a query's result without reading a row. Errors point into
// the query; two columns of one name are an error.
func (s *Source) Columns(ctx context.Context, sql string) ([]Column, error) {
	st, err := parseStatement(sql, s.d.syntax())
	if err != nil {
		return nil, err
	}
	var cols []Column
	e := s.inTx(ctx, func(_ clock, tx readTx) error {
		var e error
		cols, e = s.describe(ctx, tx, st)
		return e
	})
	return cols, e
}

// inTx runs fn in one read-only snapshot, with the clock read before it.
func (s *Source) inTx(ctx context.Context, fn func(clock, readTx) error) (err error) {
	defer func() {
		if err != nil {
			err = s.d.problem(ctx, err, statement{}, -1)
		}
	}()
	c, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := c.Close(); err == nil {
			err = e
		}
	}()
	clk, err := s.d.clock(ctx, c)
	if err != nil {
		return err
	}
	tx, err := s.d.begin(ctx, c)
	if err != nil {
		return err
	}
	defer tx.end()
	return fn(clk, tx)
}

func (s *Source) describe(ctx context.Context, tx readTx, st statement) ([]Column, error) {
	cols, err := tx.columns(ctx, st)
	if err != nil {
		return nil, s.d.problem(ctx, err, st, len(describeOpen))
	}
	if err := checkColumns(cols); err != nil {
		return nil, err
	}
	return cols, nil
}

package erp

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"strings"
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
	opener, known := openers[opt.Driver]
	if !known {
		return nil, failf(CodeConfig, "unknown erp.driver %q: use %s", opt.Driver, strings.Join(Drivers(), ", "))
	}
	db, d, err := opener(opt, cs)
	if err != nil {
		return nil, err
	}
	if err := d.probe(ctx, db); err != nil {
		err = d.problem(ctx, err, statement{}, -1)
		_ = db.Close() // the reason is more telling
		return nil, err
	}
	return &Source{opt: opt, db: db, d: d}, nil
}

// openers make a pool and the dialect of each driver; none of them connects.
var openers = map[string]func(Options, charset) (*sqlx.DB, dialect, error){
	DriverPostgres:  openPostgres,
	DriverSQLite:    openSQLite,
	DriverMySQL:     openMySQL,
	DriverFirebird:  openFirebird,
	DriverSQLServer: openSQLServer,
	DriverOracle:    openOracle,
}

// CheckQuery tells, without a connection, what is wrong with a query before the database sees it:
// quotes, comments and parentheses without an end, more than one statement, one that does not read.
// Its error is an *Error with a place.
func CheckQuery(driver, sql string) error {
	if syntax := syntaxes[driver]; syntax != nil {
		if _, bad := parseStatement(sql, syntax); bad != nil {
			return bad
		}
	}
	return nil
}

// syntaxes are the SQL of each driver.
var syntaxes = map[string]*language{
	DriverPostgres: postgresSyntax, DriverSQLite: sqliteSyntax, DriverMySQL: mysqlSyntax,
	DriverFirebird: firebirdSyntax, DriverSQLServer: sqlserverSyntax, DriverOracle: oracleSyntax,
}

// Drivers are the values of Options.Driver, in the order of the alphabet.
func Drivers() []string { return slices.Sorted(maps.Keys(openers)) }

// Close ends all connections.
func (s *Source) Close() error {
	err := s.db.Close()
	// what is lost needs no closing
	if err != nil && CodeOf(s.d.problem(context.Background(), err, statement{}, -1)) != CodeUnreachable {
		return failf(CodeOther, "closing the ERP database failed")
	}
	return nil
}

// Target names the database for people: host:port/name or the file's path,
// never a user or password.
func (s *Source) Target() string { return s.d.target() }

// Charset is the encoding in which the database keeps text: PostgreSQL's
// server_encoding, say. Where [UnknownCharset] is true of it, it does not know
// and deserves a warning: see Options.Charset.
func (s *Source) Charset(ctx context.Context) (string, error) {
	encoding, err := s.d.charset(ctx, s.db)
	if err != nil {
		return "", s.d.problem(ctx, err, statement{}, -1)
	}
	return encoding, nil
}

// Facts are what a check of the installation wants to know of the database.
type Facts struct {
	// Product is what the database is called: "PostgreSQL", "MariaDB" …
	Product string
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
	var f Facts
	var err error
	f.Product = s.d.syntax().name
	if f.Version, f.SeesTransactions, err = s.d.facts(ctx, s.db); err != nil {
		return Facts{}, s.d.problem(ctx, err, statement{}, -1)
	}
	if strings.Contains(f.Version, "MariaDB") {
		f.Product = "MariaDB"
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
	e := s.inShortTx(ctx, func(tx readTx) error {
		var e error
		cols, e = s.describe(ctx, tx, st)
		return e
	})
	return cols, e
}

// inTx runs fn in one read-only snapshot, with the clock read before it.
func (s *Source) inTx(ctx context.Context, fn func(clock, readTx) error) error {
	var clk clock
	ask := func(ctx context.Context, c *sqlx.Conn) (err error) {
		clk, err = s.d.clock(ctx, c)
		return err
	}
	return s.inSnapshot(ctx, ask, func(tx readTx) error { return fn(clk, tx) })
}

// inShortTx is inTx for who does not want to know the time, which costs a server
// more than a row does.
func (s *Source) inShortTx(ctx context.Context, fn func(readTx) error) error {
	ask := func(ctx context.Context, c *sqlx.Conn) error {
		_, err := s.d.clock(ctx, c)
		return err
	}
	if w, ok := s.d.(waker); ok {
		ask = w.awake
	}
	return s.inSnapshot(ctx, ask, fn)
}

// waker is a dialect with a cheaper question than that for the time.
type waker interface {
	// awake fails on a connection that the server has closed.
	awake(ctx context.Context, c *sqlx.Conn) error
}

// inSnapshot runs fn in one read-only snapshot, on a connection that has answered.
func (s *Source) inSnapshot(ctx context.Context, ask func(context.Context, *sqlx.Conn) error,
	fn func(readTx) error,
) (err error) {
	defer func() {
		if err != nil {
			err = s.d.problem(ctx, err, statement{}, -1)
		}
	}()
	c, err := s.conn(ctx, ask)
	if err != nil {
		return err
	}
	defer func() {
		if e := c.Close(); err == nil {
			err = e
		}
	}()
	tx, err := s.d.begin(ctx, c)
	if err != nil {
		return err
	}
	defer tx.end()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.finish(ctx)
}

// conn takes a connection from the pool and asks the server something with it. Not
// every driver notices that the server has closed an idle connection; such a one is
// thrown away, and a fresh one says whether the server is there.
func (s *Source) conn(ctx context.Context, ask func(context.Context, *sqlx.Conn) error) (*sqlx.Conn, error) {
	for left := maxIdle; ; left-- {
		c, err := s.db.Connx(ctx)
		if err != nil {
			return nil, err
		}
		err = ask(ctx, c)
		if err == nil {
			return c, nil
		}
		lost := CodeOf(s.d.problem(ctx, err, statement{}, -1)) == CodeUnreachable
		if lost {
			_ = c.Raw(func(any) error { return driver.ErrBadConn }) // so that it does not go back to the pool
		}
		_ = c.Close() // the first error is the one to report
		if !lost || left == 0 {
			return nil, err
		}
	}
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

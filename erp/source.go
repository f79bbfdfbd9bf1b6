package erp

import (
	"cmp"
	"context"
	"database/sql/driver"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Source is an ERP database opened for reading. It may be used by several goroutines at once.
type Source struct {
	db      *sqlx.DB
	dialect dialect.Dialect
	engine  *dialect.Engine
	target  string
	opt     SourceOptions
}

// Open connects and queries the database once, so that a wrong address, password, database or file
// is reported here, and clearly.
func Open(ctx context.Context, opt SourceOptions) (*Source, error) {
	opt = opt.WithDefaults()
	cs, bad := dialect.FindCharset(opt.Charset)
	if bad != nil {
		return nil, bad
	}
	engine := engineNamed(opt.Driver)
	if engine == nil {
		return nil, fault.Failf(CodeConfig, "unknown erp.driver %q: use %s", opt.Driver, strings.Join(Drivers(), ", "))
	}
	opened, bad := engine.Open(opt, cs)
	if bad != nil {
		return nil, bad
	}
	s := &Source{db: opened.DB, dialect: opened.Dialect, engine: engine, target: opened.Target, opt: opt}
	if err := opened.Probe(ctx); err != nil {
		err = s.problem(ctx, err, "")
		_ = s.db.Close() // the first error is the more useful one
		return nil, err
	}
	return s, nil
}

// problem converts an error to one that may be shown. query is the configured query that was being
// described, otherwise "".
func (s *Source) problem(ctx context.Context, err error, query string) error {
	if known := fault.Known(ctx, err); known != nil {
		return known
	}
	return s.dialect.Problem(err, query)
}

// Close closes all connections.
func (s *Source) Close() error {
	err := s.db.Close()
	// a lost connection needs no closing
	if err != nil && CodeOf(s.problem(context.Background(), err, "")) != CodeUnreachable {
		return fault.Failf(CodeOther, "closing the ERP database failed")
	}
	return nil
}

// Target returns the database for display: host:port/name or the file's path, never a user or
// password.
func (s *Source) Target() string { return s.target }

// Facts queries the database about itself.
func (s *Source) Facts(ctx context.Context) (Facts, error) {
	f, err := s.dialect.Facts(ctx, s.db)
	if err != nil {
		return Facts{}, s.problem(ctx, err, "")
	}
	f.Product = cmp.Or(f.Product, s.engine.Syntax.Name)
	err = s.inTx(ctx, func(c dialect.Clock, _ dialect.Tx) error {
		f.ServerTime = c.Now
		return nil
	})
	if err != nil {
		return Facts{}, err
	}
	return f, nil
}

// MayWrite returns the name of a table that the reading role could change, or "" if there is none
// or the database cannot tell. The program never writes (I8): its sessions are read-only whatever
// the role may do; a role that cannot write is an additional safeguard.
func (s *Source) MayWrite(ctx context.Context) (table string, err error) {
	r, ok := s.dialect.(dialect.RightsChecker)
	if !ok {
		return "", nil
	}
	table, err = r.MayWrite(ctx, s.db)
	if err != nil {
		return "", s.problem(ctx, err, "")
	}
	return table, nil
}

// Columns returns the columns of a query's result without reading a row. Errors have a position in
// the query; two columns with one name are an error.
func (s *Source) Columns(ctx context.Context, sql string) ([]Column, error) {
	st, err := sqltext.Parse(sql, s.engine.Syntax)
	if err != nil {
		return nil, err
	}
	var cols []Column
	e := s.inTx(ctx, func(_ dialect.Clock, tx dialect.Tx) error {
		var e error
		cols, e = s.describe(ctx, tx, st)
		return e
	})
	return cols, e
}

// inTx runs fn in one read-only snapshot, with the clock read before it.
func (s *Source) inTx(ctx context.Context, fn func(dialect.Clock, dialect.Tx) error) (err error) {
	defer func() {
		if err != nil {
			err = s.problem(ctx, err, "")
		}
	}()
	c, clk, err := s.conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// What the server still sends for this read must not become the answer to the next one.
			discard(c)
			return
		}
		err = c.Close()
	}()
	tx, err := s.dialect.Begin(ctx, c)
	if err != nil {
		return err
	}
	defer tx.End()
	if err := fn(clk, tx); err != nil {
		return err
	}
	return tx.Finish(ctx)
}

// conn takes a connection from the pool and reads the server's clock with it. Not every driver
// notices that the server has closed an idle connection. Such a connection is discarded, and a
// fresh one shows whether the server is reachable.
func (s *Source) conn(ctx context.Context) (*sqlx.Conn, dialect.Clock, error) {
	for left := dialect.MaxIdle; ; left-- {
		c, err := s.db.Connx(ctx)
		if err != nil {
			return nil, dialect.Clock{}, err
		}
		clk, err := s.dialect.Clock(ctx, c)
		if err == nil {
			return c, clk, nil
		}
		lost := CodeOf(s.problem(ctx, err, "")) == CodeUnreachable
		discard(c)
		if !lost || left == 0 {
			return nil, dialect.Clock{}, err
		}
	}
}

// discard closes a connection that must not return to the pool; the error that led to it is the one
// to report.
func discard(c *sqlx.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.Close()
}

func (s *Source) describe(ctx context.Context, tx dialect.Tx, st sqltext.Statement) ([]Column, error) {
	cols, err := tx.Columns(ctx, st)
	if err != nil {
		return nil, s.problem(ctx, err, st.Body)
	}
	seen := make(map[string]bool, len(cols))
	for _, c := range cols {
		if seen[c.Name] && c.Name == "?column?" {
			return nil, fault.Failf(CodeDuplicateColumn, "the query returns two expressions without a name; name each with AS")
		}
		if seen[c.Name] {
			return nil, dialect.DoubleColumn(c.Name)
		}
		seen[c.Name] = true
	}
	return cols, nil
}

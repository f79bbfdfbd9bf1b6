package state

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// How many statements a connection to SQLite keeps compiled, and how long the text of one may be. A text that is longer is a list of values, which hardly ever comes again.
const (
	keptStatements = 64
	keptText       = 8 << 10 // bytes
)

// remembering gives connections that compile a statement once and not each time: of a short statement that was a good part of its cost. The text is what
// counts, so that what is asked often has one text, whatever the number of its rows.
type remembering struct{ driver.Connector }

// Connect opens one connection.
func (r remembering) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &rememberingConn{Conn: conn, kept: map[string]*keptStatement{}}, nil
}

// rememberingConn is a connection with the statements that it has compiled. database/sql uses it from one goroutine at a time.
type rememberingConn struct {
	driver.Conn
	kept  map[string]*keptStatement
	clock int
}

// keptStatement is one of them. While rows of it are read it is busy, and the same text is compiled once more.
type keptStatement struct {
	driver.Stmt
	used int // by the connection's clock
	busy bool
}

// Close lets the statements go, and closes the connection.
func (c *rememberingConn) Close() error {
	var errs []error
	for text, s := range c.kept {
		errs = append(errs, s.Close())
		delete(c.kept, text)
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}

// BeginTx begins a transaction.
func (c *rememberingConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

// Ping asks whether the database is there.
func (c *rememberingConn) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

// ResetSession makes the connection ready for the next who uses it.
func (c *rememberingConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

// IsValid tells whether the connection can be used again.
func (c *rememberingConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

// ExecContext runs a statement.
func (c *rememberingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	}
	defer func() { s.busy = false }()
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext runs a statement that gives rows.
func (c *rememberingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		s.busy = false
		return nil, err
	}
	return &keptRows{Rows: rows, of: s}, nil
}

// keptRows are the rows of a statement that is used again once they are read.
type keptRows struct {
	driver.Rows
	of *keptStatement
}

// Close ends the reading.
func (r *keptRows) Close() error {
	err := r.Rows.Close()
	r.of.busy = false
	return err
}

// take gives the compiled statement of a text; nil for one that is not kept.
func (c *rememberingConn) take(query string) (*keptStatement, error) {
	if len(query) > keptText || !repeats(query) {
		return nil, nil
	}
	s := c.kept[query]
	if s == nil {
		if len(c.kept) >= keptStatements && !c.forget() {
			return nil, nil
		}
		compiled, err := c.Prepare(query)
		if err != nil {
			return nil, err
		}
		s = &keptStatement{Stmt: compiled}
		c.kept[query] = s
	}
	if s.busy {
		return nil, nil
	}
	c.clock++
	s.used, s.busy = c.clock, true
	return s, nil
}

// forget makes room by the statement that was not used for the longest time. false: all are busy.
func (c *rememberingConn) forget() bool {
	oldest := ""
	for text, s := range c.kept {
		if !s.busy && (oldest == "" || s.used < c.kept[oldest].used) {
			oldest = text
		}
	}
	if oldest == "" {
		return false
	}
	s := c.kept[oldest]
	delete(c.kept, oldest)
	return s.Close() == nil
}

// repeats tells whether a statement reads or writes rows; settings and the schema are changed once.
func repeats(query string) bool {
	query = strings.TrimLeft(query, " \t\n")
	for _, verb := range []string{"SELECT ", "INSERT ", "UPDATE ", "DELETE "} {
		if strings.HasPrefix(query, verb) {
			return true
		}
	}
	return false
}

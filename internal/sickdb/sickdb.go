package sickdb

import (
	"context"
	"database/sql/driver"
	"errors"
)

// The calls of a database besides its statements.
const (
	Connect  = "connect"
	Begin    = "BEGIN"
	Commit   = "COMMIT"
	Ping     = "ping"
	End      = "close"         // of a connection, which ends whatever the test says
	FirstRow = "first row of " // and the statement
)

// Test is what a test puts before a database. It is called by several goroutines at once.
type Test interface {
	// Call makes a call by do, or gives the error that it fails with. A commit that is not made is
	// rolled back.
	Call(call string, do func() error) error
	// Row may change the first row of an answer.
	Row(statement string, columns []string, values []driver.Value)
}

// Through returns what state.OpenOptions.Through wants.
func Through(t Test) func(driver.Connector) driver.Connector {
	return func(c driver.Connector) driver.Connector { return connector{c, t} }
}

type connector struct {
	driver.Connector
	test Test
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := call(c.test, Connect, func() (driver.Conn, error) { return c.Connector.Connect(ctx) })
	if err != nil {
		return nil, err
	}
	return &conn{made, c.test}, nil
}

// call is [Test.Call] for what gives something.
func call[T any](t Test, name string, do func() (T, error)) (out T, err error) {
	err = t.Call(name, func() (err error) {
		out, err = do()
		return err
	})
	return out, err
}

// conn has what database/sql asks a connection for, and what both drivers have.
type conn struct {
	driver.Conn
	test Test
}

func (c *conn) Close() error {
	return errors.Join(c.test.Call(End, func() error { return nil }), c.Conn.Close())
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	begun, err := call(c.test, Begin, func() (driver.Tx, error) { return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o) })
	return tx{begun, c.test}, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return call(c.test, query,
		func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args) })
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	answer, err := call(c.test, query,
		func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args) })
	if err != nil {
		return nil, err
	}
	return &rows{Rows: answer, test: c.test, query: query}, nil
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	made, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{made, c, query}, nil
}

// stmt is a prepared statement: each time that it is run is a call.
type stmt struct {
	driver.Stmt
	conn  *conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return call(s.conn.test, s.query,
		func() (driver.Result, error) { return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args) })
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	answer, err := call(s.conn.test, s.query,
		func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) })
	if err != nil {
		return nil, err
	}
	return &rows{Rows: answer, test: s.conn.test, query: s.query}, nil
}

func (c *conn) Ping(ctx context.Context) error {
	return c.test.Call(Ping, func() error { return c.Conn.(driver.Pinger).Ping(ctx) })
}

func (c *conn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c *conn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type tx struct {
	driver.Tx
	test Test
}

func (t tx) Commit() error {
	made := false
	err := t.test.Call(Commit, func() error {
		made = true
		return t.Tx.Commit()
	})
	if !made {
		err = errors.Join(err, t.Rollback())
	}
	return err
}

type rows struct {
	driver.Rows
	test  Test
	query string
	begun bool
}

func (r *rows) Next(dest []driver.Value) error {
	if r.begun {
		return r.Rows.Next(dest)
	}
	r.begun = true
	err := r.test.Call(FirstRow+r.query, func() error { return r.Rows.Next(dest) })
	if err == nil {
		r.test.Row(r.query, r.Columns(), dest)
	}
	return err
}

package state

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// compiling counts the statements that its connections compile.
type compiling struct {
	driver.Connector
	n *atomic.Int64
}

func (c compiling) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return compilingConn{conn, c.n}, err
}

type compilingConn struct {
	driver.Conn
	n *atomic.Int64
}

func (c compilingConn) Prepare(query string) (driver.Stmt, error) {
	c.n.Add(1)
	return c.Conn.Prepare(query)
}

func (c compilingConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c compilingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c compilingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c compilingConn) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

func (c compilingConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c compilingConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

// counted opens a database with one connection, which counts what it compiles.
func counted(t *testing.T) (db *sql.DB, compiled *atomic.Int64) {
	t.Helper()
	compiled = &atomic.Int64{}
	file := sqliteFile(sqliteDSN(filepath.Join(t.TempDir(), "x.db"), "_error_rc=1"))
	db = sql.OpenDB(remembering{compiling{file, compiled}})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	run(t, db, `CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT UNIQUE)`)
	return db, compiled
}

func run(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(query, err)
	}
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM x`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAStatementIsCompiledOnce(t *testing.T) {
	t.Parallel()
	db, compiled := counted(t)
	for i := range 100 {
		run(t, db, `INSERT INTO x (name) VALUES (?)`, fmt.Sprint(i))
		if n := count(t, db); n != i+1 {
			t.Fatalf("%d rows after %d", n, i+1)
		}
	}
	if n := compiled.Load(); n != 2 {
		t.Errorf("%d statements were compiled for two texts", n)
	}
}

// A statement that failed, and one whose table has changed since, can be run again.
func TestAStatementThatFailedRunsAgain(t *testing.T) {
	t.Parallel()
	db, compiled := counted(t)
	const insert = `INSERT INTO x (name) VALUES (?)`
	run(t, db, insert, "a")
	if _, err := db.ExecContext(t.Context(), insert, "a"); err == nil {
		t.Error("a name stands twice")
	}
	run(t, db, insert, "b")
	run(t, db, `ALTER TABLE x ADD COLUMN more TEXT`)
	run(t, db, insert, "c")
	if n := count(t, db); n != 3 || compiled.Load() != 2 {
		t.Errorf("%d rows, %d statements", n, compiled.Load())
	}
}

// While the rows of a statement are read, the same text can be asked again.
func TestAStatementIsAskedAgainWhileItsRowsAreRead(t *testing.T) {
	t.Parallel()
	db, _ := counted(t)
	for i := range 3 {
		run(t, db, `INSERT INTO x (name) VALUES (?)`, fmt.Sprint(i))
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const query = `SELECT id FROM x WHERE id >= ? ORDER BY id`
	var pairs int
	outer, err := tx.QueryContext(t.Context(), query, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outer.Close() }()
	for outer.Next() {
		var id int
		if err := outer.Scan(&id); err != nil {
			t.Fatal(err)
		}
		inner, err := tx.QueryContext(t.Context(), query, id)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			pairs++
		}
		if err := inner.Err(); err != nil {
			t.Fatal(err)
		}
		if err := inner.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := outer.Err(); err != nil || pairs != 3+2+1 {
		t.Errorf("%d pairs, %v", pairs, err)
	}
}

// Of more texts than are kept, those that were used last stay; all of them give what they should.
func TestOnlySoManyStatementsAreKept(t *testing.T) {
	t.Parallel()
	db, compiled := counted(t)
	ask := func(i int) {
		var n int
		if err := db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT %d + ?`, i), 1).Scan(&n); err != nil || n != i+1 {
			t.Errorf("%d + 1 = %d, %v", i, n, err)
		}
	}
	for i := range keptStatements + 10 {
		ask(i)
		ask(0)
	}
	before := compiled.Load()
	ask(0)
	ask(keptStatements + 9)
	if n := compiled.Load(); n != before {
		t.Errorf("%d statements that were used last were compiled again", n-before)
	}
	ask(1)
	if n := compiled.Load(); n != before+1 {
		t.Error("the statement that was used first is kept still")
	}
}

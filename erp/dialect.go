package erp

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// dbEngine is one kind of database: what is known of it before a connection, as data, and how it is
// opened. Each engine has one, and the reader a list of them.
type dbEngine struct {
	// name is the value of erp.driver.
	name   string
	syntax *language
	// plainName matches the names that need no quotes; the case of a letter that it allows does not
	// matter to the database.
	plainName *regexp.Regexp
	changedAt changedAt
	catalogue catalogueSQL
	// open makes a pool and the dialect; it does not connect.
	open func(Options, charset) (database, *Error)
	// unencrypted tells, from the DSN alone, whether a connection goes to another host without
	// encryption, or without it where the server wants none.
	unencrypted func(dsn Secret) bool
}

// changedAt says which columns can tell when a row was changed.
type changedAt struct {
	// types of such a column; nil: the declared type says nothing, and the values are looked at.
	types []string
	// advice says how another type is turned into such a one; COLUMN stands for the column.
	advice string
	// asText tells that times are compared as texts, whatever zone they are written in.
	asText bool
}

// catalogueSQL asks a database for its tables, their columns and their indexes. Every query names
// its result alike, so that one reader serves all:
//
//	relations  schema_name, table_name, is_view (0 or 1), row_estimate (NULL: none)
//	columns    schema_name, table_name, column_name, type_name, is_nullable (0 or 1), ordinal
//	indexes    schema_name, table_name, index_name, is_primary, is_unique (0 or 1), column_name, ordinal
//
// They have no ORDER BY, because they are read as subqueries.
type catalogueSQL struct {
	relations, columns, indexes string
	// estimate gives the estimate of one TABLE as n, where relations has none; "" where it has.
	estimate string
}

// database is a database that an engine has opened.
type database struct {
	db *sqlx.DB
	// target names it for people: never a user or password.
	target string
	// probe looks at it once, before the first use, and learns what the dialect has to know.
	probe   func(ctx context.Context) error
	dialect dialect
}

// dialect is what differs between databases. It may be used by several goroutines at once. The
// conditions are built on the alias q of the wrapped query.
type dialect interface {
	// facts asks the database about itself; of Facts only ServerTime and the usual Product are left out.
	facts(ctx context.Context, db *sqlx.DB) (Facts, error)
	// clock reads the database's clock and the horizon, before the snapshot.
	clock(ctx context.Context, c *sqlx.Conn) (clock, error)
	// begin opens a read-only transaction with one snapshot.
	begin(ctx context.Context, c *sqlx.Conn) (readTx, error)
	// item is how a column is selected.
	item(col Column, use use) selectItem
	// window is the condition for a window that has a Since.
	window(b *binder, col Column, w Window) (string, *Error)
	// keys is the condition "is one of these keys".
	keys(b *binder, cols []Column, keys [][]Value) (string, *Error)
	// looseKey compares trimmed text; fast allows only what an index can serve.
	looseKey(b *binder, cols []Column, key []string, fast bool) string
	// problem turns a driver's error into one that may be shown. query is the configured query, where
	// its description failed, else "".
	problem(err error, query string) *Error
}

// waker is a dialect with a cheaper question than that for the time.
type waker interface {
	// awake fails on a connection that the server has closed.
	awake(ctx context.Context, c *sqlx.Conn) error
}

// rightsChecker is a dialect that can tell what the reading role may change.
type rightsChecker interface {
	// mayWrite names a table that the role could change, "" when there is none.
	mayWrite(ctx context.Context, db *sqlx.DB) (table string, err error)
}

// readTx is an open read-only transaction.
type readTx interface {
	// columns describes a query.
	columns(ctx context.Context, st statement) ([]Column, error)
	// fetch runs a statement with a small result.
	fetch(ctx context.Context, sql string, args []any, items []selectItem) ([][]Value, error)
	// stream runs a statement of any size; fn may be slow.
	stream(ctx context.Context, sql string, args []any, items []selectItem, fn func([]Value) error) error
	// finish is asked when all was read without an error.
	finish(ctx context.Context) error
	// end closes the transaction; there is nothing to commit.
	end()
}

// salvager is a transaction of a database that fails as a whole on the value of one row, and that
// can go on after it.
type salvager interface {
	// rowError tells whether a value of one row made a statement fail.
	rowError(err error) bool
	// attempt runs fn so that such a failure leaves the transaction usable.
	attempt(ctx context.Context, name string, fn func() error) error
	// batches gives rows in batches; fn may use the transaction.
	batches(ctx context.Context, sql string, args []any, items []selectItem, fn func([][]Value) error) error
	// reason says what is wrong with a column of one row; ask selects something else of that row.
	reason(col Column, failure error, ask func(selectItem) ([][]Value, error)) string
}

// use is what a column is selected for.
type use uint8

const (
	// forMapping is an ordinary column.
	forMapping use = iota
	// forKey is a column of the key, which is bound again as it was read.
	forKey
	// forBound is the stored text of the changed_at column.
	forBound
)

// selectItem is one expression of the select list with its conversion.
type selectItem struct {
	sql     string
	convert func(v any) Value
}

// selectList is what stands after SELECT.
func selectList(items []selectItem) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.sql
	}
	return list
}

// binder collects the arguments of a statement and hands out placeholders.
type binder struct {
	placeholder func(n int) string
	args        []any
}

func newBinder(l *language) *binder { return &binder{placeholder: l.placeholder} }

func (b *binder) add(v any) string {
	b.args = append(b.args, v)
	return b.placeholder(len(b.args))
}

// Column is one column of a query's result.
type Column struct {
	// Name as the database returns it.
	Name string
	// Type is the database's type in lower case ("numeric", "timestamptz"; for
	// SQLite the declared type). It is empty where the database names none, as
	// for an enum or an expression of SQLite.
	Type string
}

// Window says which rows are read.
type Window struct {
	// Since is Result.Bound of an earlier read, in the database's own text; ""
	// reads everything.
	Since string
	// Lookback is the overlap: the window begins this much before Since. For a
	// column of type date it is at least two days.
	Lookback time.Duration
	// Whole reads every row all the same; those that the window would have left
	// out carry Row.Late.
	Whole bool
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

// check refuses a column whose type cannot tell when a row was changed.
func (c changedAt) check(col Column) *Error {
	if c.types == nil {
		return nil
	}
	for _, t := range c.types {
		if t == col.Type {
			return nil
		}
	}
	typ := col.Type
	if typ == "" {
		typ = "unknown"
	}
	return failf(CodeConfig, "changed_at column %s has type %s; %s, or remove changed_at", col.Name, typ,
		strings.ReplaceAll(c.advice, "COLUMN", col.Name))
}

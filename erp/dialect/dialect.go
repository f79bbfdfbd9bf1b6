package dialect

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Engine is one kind of database: what is known of it before a connection, as data, and how it is
// opened. Each engine has one, and the reader a list of them.
type Engine struct {
	// Name is the value of erp.driver.
	Name   string
	Syntax *sqltext.Syntax
	// PlainName matches the names that need no quotes; the case of a letter that it allows does not
	// matter to the database.
	PlainName *regexp.Regexp
	ChangedAt ChangedAt
	Catalogue Catalogue
	Literals  Literals
	// Open makes a pool and the dialect; it does not connect.
	Open func(Options, Charset) (Database, *fault.Error)
	// Unencrypted tells, from the DSN alone, whether a connection goes to another host without
	// encryption, or without it where the server wants none.
	Unencrypted func(dsn Secret) bool
}

// Literals are what the battery asks a database for without a table.
type Literals struct {
	// Dual follows a SELECT list that reads no table.
	Dual string
	// Values are expressions by the name of their line, in place of those that most databases take;
	// one without SQL is not asked.
	Values map[string]Literal
	// Session tells of the transaction that it is a snapshot which cannot write; without SQL it
	// cannot be asked.
	Session Literal
}

// Literal is an expression and the text that the reader must give for it.
type Literal struct{ SQL, Want string }

// ChangedAt says which columns can tell when a row was changed.
type ChangedAt struct {
	// Types of such a column; nil: the declared type says nothing, and the values are looked at.
	Types []string
	// Advice says how another type is turned into such a one; COLUMN stands for the column.
	Advice string
	// AsText tells that times are compared as texts, whatever zone they are written in.
	AsText bool
}

// Catalogue asks a database for its tables, their columns and their indexes. Every query names
// its result alike, so that one reader serves all:
//
//	relations  schema_name, table_name, is_view (0 or 1), row_estimate (NULL: none)
//	columns    schema_name, table_name, column_name, type_name, is_nullable (0 or 1), ordinal
//	indexes    schema_name, table_name, index_name, is_primary (0 or 1), is_unique (0 or 1),
//	           column_name, ordinal
//
// They have no ORDER BY, because they are read as subqueries.
type Catalogue struct {
	Relations, Columns, Indexes string
	// Estimate gives the estimate of one TABLE as n, where relations has none; "" where it has.
	Estimate string
}

// Database is a database that an engine has opened.
type Database struct {
	DB *sqlx.DB
	// Target names it for people: never a user or password.
	Target string
	// Probe looks at it once, before the first use, and learns what the dialect has to know.
	Probe   func(ctx context.Context) error
	Dialect Dialect
}

// Dialect is what differs between databases. It may be used by several goroutines at once. The
// conditions are built on the alias q of the wrapped query.
type Dialect interface {
	// Facts asks the database about itself; of Facts only ServerTime and the usual Product are left
	// out.
	Facts(ctx context.Context, db *sqlx.DB) (Facts, error)
	// Clock reads the database's clock and the horizon, before the snapshot.
	Clock(ctx context.Context, c *sqlx.Conn) (Clock, error)
	// Begin opens a read-only transaction with one snapshot.
	Begin(ctx context.Context, c *sqlx.Conn) (Tx, error)
	// Item is how a column is selected.
	Item(col Column, use Use) Item
	// Window is the condition for a window that has a Since.
	Window(b *Binder, col Column, w Window) (string, *fault.Error)
	// Keys is the condition "is one of these keys".
	Keys(b *Binder, cols []Column, keys [][]Value) (string, *fault.Error)
	// LoosePart compares a column of the key with trimmed text; fast allows only what an index can
	// serve.
	LoosePart(b *Binder, col Column, text string, fast bool) string
	// Problem turns a driver's error into one that may be shown. query is the configured query,
	// where its description failed, else "".
	Problem(err error, query string) *fault.Error
}

// RightsChecker is a dialect that can tell what the reading role may change.
type RightsChecker interface {
	// MayWrite names a table that the role could change, "" when there is none.
	MayWrite(ctx context.Context, db *sqlx.DB) (table string, err error)
}

// Tx is an open read-only transaction.
type Tx interface {
	// Columns describes a query.
	Columns(ctx context.Context, st sqltext.Statement) ([]Column, error)
	// Fetch runs a statement with a small result.
	Fetch(ctx context.Context, sql string, args []any, items []Item) ([][]Value, error)
	// Stream runs a statement of any size; fn may be slow.
	Stream(ctx context.Context, sql string, args []any, items []Item, fn func([]Value) error) error
	// Finish is asked when all was read without an error.
	Finish(ctx context.Context) error
	// End closes the transaction; there is nothing to commit.
	End()
}

// Salvager is a transaction of a database that fails as a whole on the value of one row, and that
// can go on after it.
type Salvager interface {
	// RowError reports whether a value of one row made a statement fail.
	RowError(err error) bool
	// Attempt runs fn so that such a failure leaves the transaction usable.
	Attempt(ctx context.Context, name string, fn func() error) error
	// Batches gives rows in batches; fn may use the transaction.
	Batches(ctx context.Context, sql string, args []any, items []Item, fn func([][]Value) error) error
	// Reason says what is wrong with a column of one row; ask selects something else of that row.
	Reason(col Column, failure error, ask func(Item) ([][]Value, error)) string
}

// Use is what a column is selected for.
type Use uint8

const (
	// ForMapping is an ordinary column.
	ForMapping Use = iota
	// ForKey is a column of the key, which is bound again as it was read.
	ForKey
	// ForBound is the stored text of the changed_at column.
	ForBound
)

// Item is one expression of the select list with its conversion.
type Item struct {
	SQL     string
	Convert func(v any) Value
}

// SelectList is what stands after SELECT.
func SelectList(items []Item) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.SQL
	}
	return list
}

// Binder collects the arguments of a statement and hands out placeholders.
type Binder struct {
	placeholder func(n int) string
	Args        []any
}

// NewBinder begins a statement in this syntax.
func NewBinder(l *sqltext.Syntax) *Binder { return &Binder{placeholder: l.Placeholder} }

// Add takes an argument, and gives its placeholder.
func (b *Binder) Add(v any) string {
	b.Args = append(b.Args, v)
	return b.placeholder(len(b.Args))
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
	// Charset is the encoding in which the database keeps text: PostgreSQL's
	// server_encoding, say. Where UnknownCharset is true of it, it does not know
	// and deserves a warning: see Options.Charset.
	Charset string
	// ServerTime is the database's clock.
	ServerTime time.Time
	// SeesTransactions reports whether the reading role sees when the open
	// transactions of others began. Without it (PostgreSQL: grant
	// pg_read_all_stats) only the lookback covers rows that commit late.
	SeesTransactions bool
}

// Check refuses a column whose type cannot tell when a row was changed.
func (c ChangedAt) Check(col Column) *fault.Error {
	if c.Types == nil {
		return nil
	}
	for _, t := range c.Types {
		if t == col.Type {
			return nil
		}
	}
	typ := col.Type
	if typ == "" {
		typ = "unknown"
	}
	return fault.Failf(fault.CodeConfig, "changed_at column %s has type %s; %s, or remove changed_at", col.Name, typ,
		strings.ReplaceAll(c.Advice, "COLUMN", col.Name))
}

package dialect

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Engine is one kind of database: what is known of it before a connection, as data, and how it is
// opened. Each engine package has one; the reader has a list of them.
type Engine struct {
	// Name is the value of erp.driver.
	Name   string
	Syntax *sqltext.Syntax
	// PlainName matches the names that need no quotes. For these the database ignores case.
	PlainName *regexp.Regexp
	ChangedAt ChangedAt
	Catalogue Catalogue
	Literals  Literals
	// Open creates a pool and the dialect; it does not connect.
	Open func(SourceOptions, Charset) (Database, *fault.Error)
	// Unencrypted reports, from the DSN alone, whether a connection leads to another host without
	// encryption, or may fall back to none, depending on the server.
	Unencrypted func(dsn Secret) bool
	// Unproved reports the same of a connection that is encrypted, with any certificate; nil: unknown.
	Unproved func(dsn Secret) bool
}

// Literals are what the battery selects from a database without a table.
type Literals struct {
	// Dual follows a SELECT list that reads no table.
	Dual string
	// Values replace the common expressions of the battery, by the name of their line. A line with
	// an empty SQL is not run.
	Values map[string]Literal
	// Session shows that the transaction is a snapshot that cannot write. If its SQL is empty, the
	// database cannot report this.
	Session Literal
}

// Literal is an expression and the text that the reader must return for it.
type Literal struct{ SQL, Want string }

// ChangedAt states which columns can show when a row was changed.
type ChangedAt struct {
	// Types of such a column; nil: the declared type is not significant, and the values are
	// examined.
	Types []string
	// Advice states how another type is converted to one of these; COLUMN is replaced by the
	// column.
	Advice string
	// AsText states that times are compared as text, whatever zone they are written in.
	AsText bool
}

// Catalogue has the queries for the tables of a database, their columns and their indexes. The
// columns of the results have the same names in every engine, so that one reader can read all:
//
//	relations  schema_name, table_name, is_view (0 or 1), row_estimate (NULL: none)
//	columns    schema_name, table_name, column_name, type_name, is_nullable (0 or 1), ordinal
//	indexes    schema_name, table_name, index_name, is_primary (0 or 1), is_unique (0 or 1),
//	           column_name, ordinal
//
// The queries have no ORDER BY, because they are used as subqueries.
type Catalogue struct {
	Relations, Columns, Indexes string
	// Estimate returns the estimate for one TABLE as n, if Relations has none; otherwise it is "".
	Estimate string
}

// Database is a database that an engine has opened.
type Database struct {
	DB *sqlx.DB
	// Target is the database for display: never a user or password.
	Target string
	// Probe queries it once before the first use, and determines what the dialect must know.
	Probe   func(ctx context.Context) error
	Dialect Dialect
}

// Dialect has what differs between databases. It may be used by several goroutines at once.
// Conditions are built for the alias q of the wrapped query.
type Dialect interface {
	// Facts queries the database about itself. It does not set ServerTime, nor the usual Product.
	Facts(ctx context.Context, db *sqlx.DB) (Facts, error)
	// Clock reads the database's clock and the horizon, before the snapshot.
	Clock(ctx context.Context, c *sqlx.Conn) (Clock, error)
	// Begin opens a read-only transaction with one snapshot.
	Begin(ctx context.Context, c *sqlx.Conn) (Tx, error)
	// Item returns how a column is selected.
	Item(col Column, use Use) Item
	// Window returns the condition for a window that has a Since.
	Window(b *Binder, col Column, w Window) (string, *fault.Error)
	// Keys returns the condition "is one of these keys".
	Keys(b *Binder, cols []Column, keys [][]Value) (string, *fault.Error)
	// LoosePart compares a column of the key with trimmed text. If fast is true, it uses only
	// comparisons that an index can serve.
	LoosePart(b *Binder, col Column, text string, fast bool) string
	// Problem converts a driver's error to one that may be shown. query is the configured query if
	// describing it failed, otherwise "".
	Problem(err error, query string) *fault.Error
}

// RightsChecker is a dialect that can determine what the reading role may change.
type RightsChecker interface {
	// MayWrite returns the name of a table that the role could change, or "" if there is none.
	MayWrite(ctx context.Context, db *sqlx.DB) (table string, err error)
}

// Tx is an open read-only transaction.
type Tx interface {
	// Columns describes a query.
	Columns(ctx context.Context, st sqltext.Statement) ([]Column, error)
	// Fetch runs a statement with a small result.
	Fetch(ctx context.Context, sql string, args []any, items []Item) ([][]Value, error)
	// Stream runs a statement with a result of any size; fn may be slow.
	Stream(ctx context.Context, sql string, args []any, items []Item, fn func([]Value) error) error
	// Finish is called when everything was read without an error.
	Finish(ctx context.Context) error
	// End closes the transaction; there is nothing to commit.
	End()
}

// Salvager is a transaction of a database that fails a whole statement because of the value of one
// row, and that can continue afterwards.
type Salvager interface {
	// RowError reports whether a value of one row made a statement fail.
	RowError(err error) bool
	// Attempt runs fn in such a way that a row error leaves the transaction usable.
	Attempt(ctx context.Context, name string, fn func() error) error
	// Batches passes rows to fn in batches; fn may use the transaction.
	Batches(ctx context.Context, sql string, args []any, items []Item, fn func([][]Value) error) error
	// Reason returns what is wrong with a column of one row; ask selects another expression of that
	// row.
	Reason(col Column, failure error, ask func(Item) ([][]Value, error)) phrase.Packed
}

// Use is the purpose for which a column is selected.
type Use uint8

const (
	// ForMapping is an ordinary column.
	ForMapping Use = iota
	// ForKey is a column of the key, whose values are bound again as they were read.
	ForKey
	// ForBound is the stored text of the changed_at column.
	ForBound
)

// Item is one expression of the select list, with its conversion.
type Item struct {
	SQL     string
	Convert func(v any) Value
}

// TextItem returns an expression whose values are parsed from text.
func TextItem(sql string, convert func(string) Value) Item {
	return Item{SQL: sql, Convert: asText(convert)}
}

// VerbatimItem returns an expression whose text is kept unchanged.
func VerbatimItem(sql string, kind Kind) Item {
	return TextItem(sql, func(s string) Value { return Value{Kind: kind, Text: s} })
}

// BinaryItem returns a column whose content is not wanted: old ERPs store megabytes of notes in such
// columns. example shows how a query converts it to text.
func BinaryItem(name, example string) Item {
	return Item{SQL: "CASE WHEN " + name + " IS NULL THEN NULL ELSE '' END", Convert: BinaryColumn(example)}
}

// SelectList returns the expressions that follow SELECT.
func SelectList(items []Item) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.SQL
	}
	return list
}

// Binder collects the arguments of a statement and returns their placeholders.
type Binder struct {
	placeholder func(n int) string
	Args        []any
}

// NewBinder returns a Binder for a statement in this syntax.
func NewBinder(l *sqltext.Syntax) *Binder { return &Binder{placeholder: l.Placeholder} }

// Add adds an argument and returns its placeholder.
func (b *Binder) Add(v any) string {
	b.Args = append(b.Args, v)
	return b.placeholder(len(b.Args))
}

// Column is one column of a query's result.
type Column struct {
	// Name is the name as the database returns it.
	Name string
	// Type is the database's type in lower case ("numeric", "timestamptz"; for SQLite the declared
	// type). It is empty if the database reports none, as for an enum or an expression of SQLite.
	Type string
}

// Window states which rows are read.
type Window struct {
	// Since is Result.Bound of an earlier read, in the database's own text; "" reads everything.
	Since string
	// Lookback is the overlap: the window begins this much before Since. For a column of type date
	// it is at least two days.
	Lookback time.Duration
	// Whole reads every row in spite of Since; the rows that the window would have left out have
	// Row.Late.
	Whole bool
}

// Facts are what a check of the installation needs to know of the database.
type Facts struct {
	// Product is the name of the database: "PostgreSQL", "MariaDB" …
	Product string
	// Version of the server or library.
	Version string
	// Charset is the encoding in which the database stores text, such as PostgreSQL's
	// server_encoding. If UnknownCharset is true for it, the database does not know the encoding,
	// which deserves a warning: see SourceOptions.Charset.
	Charset string
	// ServerTime is the database's clock.
	ServerTime time.Time
	// SeesTransactions reports whether the reading role sees when the open transactions of others
	// began. Without it (PostgreSQL: grant pg_read_all_stats) only the lookback covers rows that
	// commit late.
	SeesTransactions bool
	// Filtered is a table of which a policy may hide rows from the reading role (PostgreSQL: row-level
	// security); "" if there is none.
	Filtered string
	// Reading says how the rows are read where the database has no read-only transactions; otherwise
	// it is empty.
	Reading Reading
}

// Reading is how an ordinary transaction sees the rows.
type Reading string

// The ways of reading.
const (
	// ReadsSnapshot: all rows of one moment.
	ReadsSnapshot Reading = "snapshot"
	// ReadsVersions: the committed rows of the moment at which each statement began.
	ReadsVersions Reading = "versions"
	// ReadsLocked: it waits for writers, and can miss a row that moves.
	ReadsLocked Reading = "locked"
)

// Check returns an error for a column whose type cannot show when a row was changed.
func (c ChangedAt) Check(col Column) *fault.Error {
	if c.Types == nil || slices.Contains(c.Types, col.Type) {
		return nil
	}
	return fault.Failf(fault.CodeConfig, "changed_at column %s has type %s; %w, or remove changed_at", col.Name,
		cmp.Or(col.Type, "unknown"), phrase.New(c.Advice, col.Name))
}

// KeyCondition returns the condition "is one of these keys", each part compared by term, which returns ""
// for a value that cannot be bound.
func KeyCondition(b *Binder, cols []Column, keys [][]Value,
	term func(*Binder, Column, Value) string,
) (string, *fault.Error) {
	alternatives := make([]string, 0, len(keys))
	for _, key := range keys {
		all := make([]string, len(key))
		for i, v := range key {
			all[i] = term(b, cols[i], v)
			if all[i] == "" {
				return "", fault.Failf(fault.CodeOther, "a stored value of key column %s cannot be bound again", cols[i].Name)
			}
		}
		alternatives = append(alternatives, "("+strings.Join(all, " AND ")+")")
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", nil
}

// FailBound returns the error for a saved bound that is not a time.
func FailBound(since string) *fault.Error {
	return fault.Failf(fault.CodeOther, "the saved bound %q is no date or time; run a sweep", since)
}

// WindowStart returns the start of a window, in UTC digits. If the column has days only, the
// lookback is at least two days. Rows before the day dated are in every window, so the start is never
// earlier: some types end shortly before the times that programs write for "none".
func WindowStart(w Window, days bool, dated string) (time.Time, *fault.Error) {
	m, ok := ParseMoment(w.Since)
	first, valid := ParseMoment(dated)
	if !ok || !valid {
		return time.Time{}, FailBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	if days {
		lookback = max(lookback, 48*time.Hour)
	}
	if low := m.At.Add(-lookback); low.After(first.At) {
		return low, nil
	}
	return first.At, nil
}

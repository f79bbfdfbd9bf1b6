package erp

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
)

// Query is a job's query with the columns that have a role.
type Query struct {
	// SQL is any single query: joins, unions, CTEs, a trailing semicolon.
	SQL string
	// Key names the columns that identify a row.
	Key []string
	// ChangedAt names the column of the last change; "" when there is none.
	ChangedAt string
	// Job is used in messages only.
	Job string
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

// Result says what a complete read has seen. After an error it is empty.
type Result struct {
	// Rows counts the rows given to the caller.
	Rows int
	// Unreadable counts those of them with a NULL or unreadable key part.
	Unreadable int
	// Bound is to be saved and passed as Window.Since next time: the newest
	// change seen in this snapshot, but never after the database's now() nor
	// after the start of the oldest visible open transaction, and never below
	// Window.Since. "" when there is no ChangedAt or nothing was ever seen.
	Bound string
	// FutureBound tells that some row claims to have changed in the future; the
	// bound was held back, and the caller should warn.
	FutureBound bool
	// Degraded tells that the database gave up on the query as a whole and the
	// rows were read key by key; the values that broke it carry Err. Such a
	// read proves presence, not absence: it is no complete sweep.
	Degraded bool
	// ServerTime is the database's clock when the read began.
	ServerTime time.Time
}

// binder collects the arguments of a statement and hands out placeholders.
type binder struct {
	placeholder func(n int) string
	args        []any
}

func (b *binder) add(v any) string {
	b.args = append(b.args, v)
	return b.placeholder(len(b.args))
}

// dialect is what differs between databases. The
// conditions are built on the alias q of the wrapped query.
type dialect interface {
	syntax() *language
	// target names the database for people: never a user or password.
	target() string
	// probe looks at the database once, after opening.
	probe(ctx context.Context, db *sqlx.DB) error
	// charset is the encoding in which the database keeps text.
	charset(ctx context.Context, db *sqlx.DB) (string, error)
	// facts are its version, and whether the open transactions of others show.
	facts(ctx context.Context, db *sqlx.DB) (version string, sees bool, err error)
	// item is how a column is selected; raw keeps the stored text of the
	// changed_at column.
	item(col Column, key bool) selectItem
	rawItem(col Column) selectItem
	// window is the condition for a window that has a Since.
	window(b *binder, col Column, w Window) (string, *Error)
	// changedAtUsable checks the column's type.
	changedAtUsable(col Column) *Error
	// keys is the condition "is one of these keys".
	keys(b *binder, cols []Column, keys [][]Value) (string, *Error)
	// looseKey compares trimmed text; fast allows only what an index can serve.
	looseKey(b *binder, cols []Column, key []string, fast bool) string
	// clock reads the database's clock and the horizon, before the snapshot.
	clock(ctx context.Context, c *sqlx.Conn) (clock, error)
	// problem turns a driver's error into ours. offset is where the configured
	// query starts in the statement sent, or -1.
	problem(ctx context.Context, err error, st statement, offset int) error
	// begin opens a read-only transaction with one snapshot.
	begin(ctx context.Context, c *sqlx.Conn) (readTx, error)
}

// selectItem is one expression of the select list with its conversion.
type selectItem struct {
	sql     string
	convert func(v any) Value
}

// readTx is an open read-only transaction.
type readTx interface {
	// columns describes a query.
	columns(ctx context.Context, st statement) ([]Column, error)
	// few runs a statement with a small result.
	few(ctx context.Context, sql string, args []any, items []selectItem, fn func([]Value) error) error
	// stream runs a statement of any size; fn may be slow. query makes the statement
	// of what stands after its SELECT.
	stream(ctx context.Context, query func(list []string) string, args []any, items []selectItem,
		fn func([]Value) error) error
	// finish is asked when all was read without an error.
	finish(ctx context.Context) error
	// end closes the transaction; there is nothing to commit.
	end()
}

// salvageTx can go on after one row has ended a statement.
type salvageTx interface {
	readTx
	// salvages tells whether the database can fail on one row at all.
	salvages() bool
	// attempt runs fn so that a failure leaves the transaction usable.
	attempt(ctx context.Context, name string, fn func() error) error
	// rowError tells whether a value of one row made a statement fail.
	rowError(err error) bool
	// fetch runs a statement with a small result.
	fetch(ctx context.Context, query string, args []any, items []selectItem) ([][]Value, error)
	// batches gives rows in batches; fn may use the transaction.
	batches(ctx context.Context, query string, args []any, items []selectItem, fn func([][]Value) error) error
	// reason says what is wrong with one column of one key.
	reason(ctx context.Context, k keyReader, column int, key [][]Value, failure error) string
}

func newBinder(d dialect) *binder { return &binder{placeholder: d.syntax().placeholder} }

// chunkKeys is how many keys one statement asks for: small enough for every
// planner, large enough to save round trips.
const chunkKeys = 200

func selectList(items []selectItem) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.sql
	}
	return list
}

func where(sql, condition string) string {
	if condition == "" {
		return sql
	}
	return sql + "\nWHERE " + condition
}

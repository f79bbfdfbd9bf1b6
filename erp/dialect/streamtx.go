package dialect

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// StreamTx is one read-only transaction of a driver that hands over row by row
// while the database works: all but PostgreSQL, which has cursors.
type StreamTx struct {
	Tx *sqlx.Tx
	// Limit bounds the time the database works without giving a row; the
	// caller's own time between two rows does not count.
	Limit time.Duration
	// Names changes the columns' names as the driver gives them.
	Names func([]Column) []Column
	// TypeOf names a type otherwise than the driver does.
	TypeOf func(*sql.ColumnType) string
	// Stop ends on the server what a cancelled call left running there.
	Stop func()
	// Relax and tighten come before and after a statement whose rows the caller
	// takes at leisure.
	Relax, Tighten string
	// Verify is asked when all was read.
	Verify func(ctx context.Context, tx *sqlx.Tx) error
	// IsRowError: a value of one row ended the statement. nil: that cannot be, and the transaction
	// is no salvager.
	IsRowError func(error) bool
}

// Opened is the transaction as the reader sees it.
func (t *StreamTx) Opened() Tx {
	if t.IsRowError == nil {
		return t
	}
	return salvagingTx{t}
}

// End implements Tx; nothing was written, so nothing can be lost.
func (t *StreamTx) End() { _ = t.Tx.Rollback() } // nothing was written, so nothing can be lost

// Columns implements Tx.
func (t *StreamTx) Columns(ctx context.Context, st sqltext.Statement) (cols []Column, err error) {
	err = t.watched(ctx, func(ctx context.Context, _ *time.Timer) (err error) {
		rows, err := t.Tx.QueryxContext(ctx, st.Describe())
		if err != nil {
			return err
		}
		cols, err = Describe(rows, t.TypeOf)
		return err
	})
	if t.Names != nil {
		cols = t.Names(cols)
	}
	return cols, err
}

// Fetch runs a statement with a small result.
func (t *StreamTx) Fetch(ctx context.Context, query string, args []any,
	items []Item,
) (rows [][]Value, err error) {
	err = t.rows(ctx, query, args, items, func(values []Value) error {
		rows = append(rows, values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Stream implements Tx.
func (t *StreamTx) Stream(ctx context.Context, query string, args []any, items []Item,
	fn func([]Value) error,
) (err error) {
	if t.Relax != "" {
		if _, err := t.Tx.ExecContext(ctx, t.Relax); err != nil {
			return err
		}
		defer func() {
			if err == nil || t.IsRowError != nil && t.IsRowError(err) {
				_, e := t.Tx.ExecContext(ctx, t.Tighten)
				err = errors.Join(err, e)
			}
		}()
	}
	return t.rows(ctx, query, args, items, fn)
}

func (t *StreamTx) rows(ctx context.Context, query string, args []any, items []Item,
	fn func([]Value) error,
) error {
	return t.watched(ctx, func(ctx context.Context, watch *time.Timer) (err error) {
		rows, err := t.Tx.QueryxContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		return t.each(ctx, watch, rows, items, fn)
	})
}

func (t *StreamTx) each(ctx context.Context, watch *time.Timer, rows *sqlx.Rows, items []Item,
	fn func([]Value) error,
) error {
	reader := NewRowReader(items)
	for {
		watch.Reset(t.Limit)
		if !rows.Next() {
			return rows.Err()
		}
		values, _, err := reader.Read(rows)
		if err != nil {
			return err
		}
		watch.Stop()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(values); err != nil {
			return fault.Caller{Err: err}
		}
	}
}

// watched runs fn with a context that ends when the timer does.
func (t *StreamTx) watched(outer context.Context, fn func(context.Context, *time.Timer) error) error {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	watch := time.AfterFunc(t.Limit, func() {
		cancel(fault.Failf(fault.CodeTimeout,
			"the query worked longer than %s (erp.statement_timeout): make it faster, e.g. by an index, or raise the limit", t.Limit))
	})
	defer watch.Stop()
	err := fn(ctx, watch)
	if err == nil || ctx.Err() == nil {
		return err
	}
	if t.Stop != nil {
		t.Stop()
	}
	if outer.Err() == nil {
		return fault.Known(ctx, err) // the cause is lost with this context
	}
	return err
}

// salvagingTx: in these databases a SELECT that fails leaves its transaction usable.
type salvagingTx struct{ *StreamTx }

// Batches has no cursor: while rows come, a connection answers nothing else, so
// all of them are taken first. Only the keys of a broken read come this way.
func (t salvagingTx) Batches(ctx context.Context, query string, args []any, items []Item,
	fn func([][]Value) error,
) error {
	all, err := t.Fetch(ctx, query, args, items)
	if err != nil {
		return err
	}
	return fn(all)
}

func (t salvagingTx) Attempt(_ context.Context, _ string, fn func() error) error { return fn() }

func (t salvagingTx) RowError(err error) bool {
	var c fault.Caller
	return !errors.As(err, &c) && t.IsRowError(err)
}

func (t salvagingTx) Reason(Column, error, func(Item) ([][]Value, error)) string {
	return "the database cannot compute this value"
}

// Finish implements Tx.
func (t *StreamTx) Finish(ctx context.Context) error {
	if t.Verify == nil {
		return nil
	}
	return t.Verify(ctx, t.Tx)
}

// ReadOnlySnapshot is what every begin asks for; the dialect's driver decides
// how the database is told.
var ReadOnlySnapshot = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

// Deliver gives rows to the caller, whose own error comes back untouched.
func Deliver(ctx context.Context, batch [][]Value, fn func([]Value) error) error {
	for _, values := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(values); err != nil {
			return fault.Caller{Err: err}
		}
	}
	return nil
}

// RowReader brings rows of a driver to values.
type RowReader struct {
	items       []Item
	cells, into []any
}

// NewRowReader reads rows of these items.
func NewRowReader(items []Item) *RowReader {
	r := &RowReader{items: items, cells: make([]any, len(items)), into: make([]any, len(items))}
	for i := range r.cells {
		r.into[i] = &r.cells[i]
	}
	return r
}

// Read returns the values of the row at which rows stands, and how many bytes of text were sent for
// it, what is not kept of them included.
func (r *RowReader) Read(rows *sqlx.Rows) (values []Value, size int, err error) {
	if err := rows.Scan(r.into...); err != nil {
		return nil, 0, err
	}
	values = make([]Value, len(r.items))
	for i, item := range r.items {
		switch x := r.cells[i].(type) {
		case nil:
			continue
		case string:
			size += len(x)
		case []byte:
			size += len(x)
		}
		values[i] = item.Convert(r.cells[i])
		r.cells[i] = nil
	}
	return values, size, nil
}

// Describe returns the columns of a result; typeOf names their types, nil as the driver does.
func Describe(rows *sqlx.Rows, typeOf func(*sql.ColumnType) string) (cols []Column, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, ct := range types {
		typ := strings.ToLower(ct.DatabaseTypeName())
		if typeOf != nil {
			typ = typeOf(ct)
		}
		cols = append(cols, Column{Name: ct.Name(), Type: typ})
	}
	return cols, rows.Err()
}

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
	"github.com/safrasync/safrasync/internal/phrase"
)

// StreamTx is one read-only transaction of a driver that returns row by row while the database
// works. All engines use it except PostgreSQL, which has cursors.
type StreamTx struct {
	Tx *sqlx.Tx
	// Limit is the maximum time that the database works without returning a row. The caller's own
	// time between two rows does not count.
	Limit time.Duration
	// Whole: the limit counts for all rows of a statement together. A database in this process has
	// no limit of its own that would end a query that returns rows for ever.
	Whole bool
	// Names changes the columns' names as the driver returns them.
	Names func([]Column) []Column
	// TypeOf returns the name of a type, in place of the driver's.
	TypeOf func(*sql.ColumnType) string
	// Stop ends on the server what a cancelled call left running there.
	Stop func()
	// Relax and Tighten are run before and after a statement whose rows the caller may take slowly.
	Relax, Tighten string
	// Verify is called when everything was read.
	Verify func(ctx context.Context, tx *sqlx.Tx) error
	// IsRowError reports whether a value of one row ended the statement. nil: that cannot happen,
	// and the transaction is not a Salvager.
	IsRowError func(error) bool
}

// Opened returns the transaction for the reader.
func (t *StreamTx) Opened() Tx {
	if t.IsRowError == nil {
		return t
	}
	return salvagingTx{t}
}

// End implements Tx.
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

// Fetch implements Tx.
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
		reader := NewRowReader(items)
		left := t.Limit
		for {
			watch.Reset(left)
			began := time.Now()
			if !rows.Next() {
				return rows.Err()
			}
			if t.Whole {
				left = max(left-time.Since(began), 0)
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
	})
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
		return fault.Known(ctx, err) // the cause would be lost with this context
	}
	return err
}

// salvagingTx is for databases in which a SELECT that fails leaves its transaction usable.
type salvagingTx struct{ *StreamTx }

// Batches has no cursor: while rows are coming, a connection answers nothing else, so all of them
// are read first. Only the keys of a failed read are read in this way.
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

func (t salvagingTx) Reason(Column, error, func(Item) ([][]Value, error)) phrase.Packed {
	return phrase.Pack("the database cannot compute this value")
}

// Finish implements Tx.
func (t *StreamTx) Finish(ctx context.Context) error {
	if t.Verify == nil {
		return nil
	}
	return t.Verify(ctx, t.Tx)
}

// ReadOnlySnapshot has the options of a read-only transaction with one snapshot; the driver decides
// how to request it from the database.
var ReadOnlySnapshot = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

// Deliver passes rows to the caller's function, whose own error is returned as fault.Caller.
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

// RowReader converts the rows of a driver to values.
type RowReader struct {
	items       []Item
	cells, into []any
}

// NewRowReader returns a reader for rows of these items.
func NewRowReader(items []Item) *RowReader {
	r := &RowReader{items: items, cells: make([]any, len(items)), into: make([]any, len(items))}
	for i := range r.cells {
		r.into[i] = &r.cells[i]
	}
	return r
}

// Read returns the values of the current row of rows, and how many bytes of text were sent for it,
// including those that are not kept.
func (r *RowReader) Read(rows *sqlx.Rows) (values []Value, size int, err error) {
	if err := rows.Scan(r.into...); err != nil {
		return nil, 0, err
	}
	values = make([]Value, len(r.items))
	kept := 0
	for i, item := range r.items {
		long := 0
		switch x := r.cells[i].(type) {
		case nil:
			continue
		case string:
			long = len(x)
		case []byte:
			long = len(x)
		}
		size += long
		switch {
		case long > maxTextBytes:
			values[i] = longText
		case kept+long > maxRowBytes:
			values[i] = longRow
		default:
			values[i] = item.Convert(r.cells[i])
			kept += long
		}
		r.cells[i] = nil
	}
	return values, size, nil
}

// Describe returns the columns of a result and closes rows. typeOf returns their types; nil uses
// the driver's.
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

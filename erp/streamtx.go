package erp

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// streamTx is one read-only transaction of a driver that hands over row by row
// while the database works: all but PostgreSQL, which has cursors.
type streamTx struct {
	tx *sqlx.Tx
	// limit bounds the time the database works without giving a row; the
	// caller's own time between two rows does not count.
	limit time.Duration
	// names changes the columns' names as the driver gives them.
	names func([]Column) []Column
	// typeOf names a type otherwise than the driver does.
	typeOf func(*sql.ColumnType) string
	// stop ends on the server what a cancelled call left running there.
	stop func()
	// relax and tighten come before and after a statement whose rows the caller
	// takes at leisure.
	relax, tighten string
	// verify is asked when all was read.
	verify func(ctx context.Context, tx *sqlx.Tx) error
	// isRowError: a value of one row ended the statement. nil: that cannot be, and the transaction
	// is no salvager.
	isRowError func(error) bool
}

// opened is the transaction as the reader sees it.
func (t *streamTx) opened() readTx {
	if t.isRowError == nil {
		return t
	}
	return salvagingTx{t}
}

func (t *streamTx) end() { _ = t.tx.Rollback() } // nothing was written, so nothing can be lost

func (t *streamTx) columns(ctx context.Context, st statement) (cols []Column, err error) {
	err = t.watched(ctx, func(ctx context.Context, _ *time.Timer) (err error) {
		rows, err := t.tx.QueryxContext(ctx, st.describe())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		types, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		for _, ct := range types {
			typ := strings.ToLower(ct.DatabaseTypeName())
			if t.typeOf != nil {
				typ = t.typeOf(ct)
			}
			cols = append(cols, Column{Name: ct.Name(), Type: typ})
		}
		return rows.Err()
	})
	if t.names != nil {
		cols = t.names(cols)
	}
	return cols, err
}

// fetch runs a statement with a small result.
func (t *streamTx) fetch(ctx context.Context, query string, args []any,
	items []selectItem,
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

func (t *streamTx) stream(ctx context.Context, query string, args []any, items []selectItem,
	fn func([]Value) error,
) (err error) {
	if t.relax != "" {
		if _, err := t.tx.ExecContext(ctx, t.relax); err != nil {
			return err
		}
		defer func() {
			if err == nil || t.isRowError != nil && t.isRowError(err) {
				_, e := t.tx.ExecContext(ctx, t.tighten)
				err = errors.Join(err, e)
			}
		}()
	}
	return t.rows(ctx, query, args, items, fn)
}

func (t *streamTx) rows(ctx context.Context, query string, args []any, items []selectItem,
	fn func([]Value) error,
) error {
	return t.watched(ctx, func(ctx context.Context, watch *time.Timer) (err error) {
		rows, err := t.tx.QueryxContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		return t.each(ctx, watch, rows, items, fn)
	})
}

func (t *streamTx) each(ctx context.Context, watch *time.Timer, rows *sqlx.Rows, items []selectItem,
	fn func([]Value) error,
) error {
	cells, into := make([]any, len(items)), make([]any, len(items))
	for i := range cells {
		into[i] = &cells[i]
	}
	for {
		watch.Reset(t.limit)
		if !rows.Next() {
			return rows.Err()
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		watch.Stop()
		values := make([]Value, len(items))
		for i, it := range items {
			if cells[i] != nil {
				values[i] = it.convert(cells[i])
			}
			cells[i] = nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(values); err != nil {
			return callerError{err}
		}
	}
}

// watched runs fn with a context that ends when the timer does.
func (t *streamTx) watched(outer context.Context, fn func(context.Context, *time.Timer) error) error {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	watch := time.AfterFunc(t.limit, func() {
		cancel(failf(CodeTimeout,
			"the query worked longer than %s (erp.statement_timeout): make it faster, e.g. by an index, or raise the limit", t.limit))
	})
	defer watch.Stop()
	err := fn(ctx, watch)
	if err == nil || ctx.Err() == nil {
		return err
	}
	if t.stop != nil {
		t.stop()
	}
	if outer.Err() == nil {
		return knownProblem(ctx, err) // the cause is lost with this context
	}
	return err
}

// salvagingTx: in these databases a SELECT that fails leaves its transaction usable.
type salvagingTx struct{ *streamTx }

// batches has no cursor: while rows come, a connection answers nothing else, so
// all of them are taken first. Only the keys of a broken read come this way.
func (t salvagingTx) batches(ctx context.Context, query string, args []any, items []selectItem,
	fn func([][]Value) error,
) error {
	all, err := t.fetch(ctx, query, args, items)
	if err != nil {
		return err
	}
	return fn(all)
}

func (t salvagingTx) attempt(_ context.Context, _ string, fn func() error) error { return fn() }

func (t salvagingTx) rowError(err error) bool {
	var c callerError
	return !errors.As(err, &c) && t.isRowError(err)
}

func (t salvagingTx) reason(Column, error, func(selectItem) ([][]Value, error)) string {
	return "the database cannot compute this value"
}

func (t *streamTx) finish(ctx context.Context) error {
	if t.verify == nil {
		return nil
	}
	return t.verify(ctx, t.tx)
}

// readOnlySnapshot is what every begin asks for; the dialect's driver decides
// how the database is told.
var readOnlySnapshot = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

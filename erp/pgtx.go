package erp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// pgTx is one REPEATABLE READ, READ ONLY transaction.
type pgTx struct {
	p  *postgres
	tx *sqlx.Tx
}

func (p *postgres) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	tx, err := c.BeginTxx(ctx, readOnlySnapshot)
	if err != nil {
		return nil, err
	}
	// The start-up parameters say the same, but a pooler in between may drop
	// them. A cursor is planned for its first rows unless told that all are
	// wanted. The ERP must not keep a snapshot open for us if we hang.
	_, err = tx.ExecContext(ctx, fmt.Sprintf(
		"SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = %d; SET LOCAL cursor_tuple_fraction = 1; "+
			"SET LOCAL idle_in_transaction_session_timeout = '10min'",
		p.opt.StatementTimeout.Milliseconds(), lockTimeout.Milliseconds()))
	if err != nil {
		_ = tx.Rollback() // the first error is the one to report
		return nil, err
	}
	return &pgTx{p: p, tx: tx}, nil
}

func (t *pgTx) end() { _ = t.tx.Rollback() } // nothing was written, so nothing can be lost

func (t *pgTx) columns(ctx context.Context, st statement) (cols []Column, err error) {
	rows, err := t.tx.QueryxContext(ctx, st.describe())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, ct := range types {
		cols = append(cols, Column{Name: ct.Name(), Type: strings.ToLower(ct.DatabaseTypeName())})
	}
	return cols, rows.Err()
}

// stream reads through a cursor. The rows of one FETCH are taken off the wire before the caller
// sees the first of them: statement_timeout is then about the database's work alone, however slow
// the caller is, and memory is bounded by one batch.
func (t *pgTx) stream(ctx context.Context, query string, args []any, items []selectItem,
	fn func([]Value) error,
) error {
	return t.cursor(ctx, "safrasync_rows", query, args, items, func(batch [][]Value) error {
		return deliver(ctx, batch, fn)
	})
}

// Limits of one FETCH: many small rows at once, few large ones.
const (
	fetchRows  = 500
	fetchFirst = 100
	fetchBytes = 4 << 20
)

func (t *pgTx) cursor(ctx context.Context, name, query string, args []any, items []selectItem,
	fn func([][]Value) error,
) error {
	if _, err := t.tx.ExecContext(ctx, "DECLARE "+name+" NO SCROLL CURSOR FOR "+query, args...); err != nil {
		return err
	}
	for n := fetchFirst; ; {
		batch, size, err := t.fetchSized(ctx, fmt.Sprintf("FETCH FORWARD %d FROM %s", n, name), nil, items)
		if err != nil {
			return err
		}
		if err := fn(batch); err != nil {
			return err
		}
		if len(batch) < n {
			break
		}
		n = min(fetchRows, n*4, 1+fetchBytes/(1+size/len(batch)))
	}
	_, err := t.tx.ExecContext(ctx, "CLOSE "+name)
	return err
}

func (t *pgTx) fetchSized(ctx context.Context, query string, args []any,
	items []selectItem,
) (batch [][]Value, size int, err error) {
	rows, err := t.tx.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	cells, into := make([]any, len(items)), make([]any, len(items))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, 0, err
		}
		values := make([]Value, len(items))
		for i, it := range items {
			if cells[i] == nil {
				continue
			}
			switch x := cells[i].(type) { // also what is not kept has to be sent
			case string:
				size += len(x)
			case []byte:
				size += len(x)
			}
			values[i] = it.convert(cells[i])
			cells[i] = nil
		}
		batch = append(batch, values)
	}
	return batch, size, rows.Err()
}

// attempt runs fn in a savepoint, so that a failure of one statement leaves the
// transaction, and with it the snapshot, usable.
func (t *pgTx) attempt(ctx context.Context, name string, fn func() error) error {
	if _, err := t.tx.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	if err := fn(); err != nil {
		if !t.rowError(err) {
			return err
		}
		if _, back := t.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+name+"; RELEASE SAVEPOINT "+name); back != nil {
			return back
		}
		return err
	}
	_, err := t.tx.ExecContext(ctx, "RELEASE SAVEPOINT "+name)
	return err
}

var _ salvager = (*pgTx)(nil)

func (t *pgTx) rowError(err error) bool {
	var c callerError
	return !errors.As(err, &c) && isDataError(err)
}

func (t *pgTx) finish(context.Context) error { return nil }

func (t *pgTx) fetch(ctx context.Context, query string, args []any, items []selectItem) ([][]Value, error) {
	rows, _, err := t.fetchSized(ctx, query, args, items)
	return rows, err
}

func (t *pgTx) batches(ctx context.Context, query string, args []any, items []selectItem,
	fn func([][]Value) error,
) error {
	return t.cursor(ctx, "safrasync_keys", query, args, items, fn)
}

// reason says what is wrong with one column of one row.
func (t *pgTx) reason(col Column, failure error, ask func(selectItem) ([][]Value, error)) string {
	var e *pq.Error
	if !errors.As(failure, &e) {
		return "the database cannot read this value"
	}
	if e.Code != "22021" && e.Code != "22P05" {
		return "the database cannot compute this value (SQLSTATE " + string(e.Code) + ")"
	}
	name := postgresSyntax.column(col.Name)
	rows, err := ask(selectItem{
		sql: "CASE WHEN " + name + " IS NULL THEN NULL ELSE convert_to(concat(" + name +
			"), getdatabaseencoding()) END",
		convert: func(v any) Value {
			raw, _ := v.([]byte)
			return textValue(string(raw), charset{})
		},
	})
	if err == nil && len(rows) > 0 && rows[0][0].Err != "" {
		return rows[0][0].Err
	}
	return "bytes that are no valid text (SQLSTATE " + string(e.Code) + ")"
}

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// pgTx is one REPEATABLE READ, READ ONLY transaction.
type pgTx struct{ tx *sqlx.Tx }

func (p *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	tx, err := c.BeginTxx(ctx, dialect.ReadOnlySnapshot)
	if err != nil {
		return nil, err
	}
	// The start-up parameters set the same, but a pooler in between may drop them. A cursor is
	// planned for its first rows unless it is known that all are wanted. If this process hangs, the
	// ERP must not keep a snapshot open for it.
	_, err = tx.ExecContext(ctx, fmt.Sprintf(
		"SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = %d; SET LOCAL cursor_tuple_fraction = 1; "+
			"SET LOCAL idle_in_transaction_session_timeout = '10min'",
		p.opt.StatementTimeout.Milliseconds(), dialect.LockTimeout.Milliseconds()))
	if err != nil {
		_ = tx.Rollback() // the first error is the one to report
		return nil, err
	}
	return &pgTx{tx}, nil
}

func (t *pgTx) End() { _ = t.tx.Rollback() } // nothing was written, so nothing can be lost

func (t *pgTx) Columns(ctx context.Context, st sqltext.Statement) (cols []dialect.Column, err error) {
	rows, err := t.tx.QueryxContext(ctx, st.Describe())
	if err != nil {
		return nil, err
	}
	return dialect.Describe(rows, nil)
}

// Stream reads through a cursor. The rows of one FETCH are received completely before the caller
// gets the first of them. So statement_timeout covers only the database's work, however slow the
// caller is. The database works on the next rows meanwhile, so memory is limited by two batches.
func (t *pgTx) Stream(ctx context.Context, query string, args []any, items []dialect.Item,
	fn func([]dialect.Value) error,
) error {
	ready, ended := make(chan [][]dialect.Value), make(chan struct{})
	ahead, enough := context.WithCancel(ctx)
	defer enough()
	var failed error
	go func() {
		defer close(ended)
		failed = t.cursor(ahead, "safrasync_rows", query, args, items, func(batch [][]dialect.Value) error {
			select {
			case ready <- batch:
				return nil
			case <-ahead.Done():
				return ahead.Err()
			}
		})
	}()
	for {
		select {
		case <-ended:
			return failed
		case batch := <-ready:
			if err := dialect.Deliver(ctx, batch, fn); err != nil {
				enough() // also a FETCH that the database works on
				<-ended  // nobody uses the transaction any more
				return err
			}
		}
	}
}

// Limits of one FETCH: many small rows at once, few large ones.
const (
	fetchRows  = 500
	fetchFirst = 100
	fetchBytes = 4 << 20
)

func (t *pgTx) cursor(ctx context.Context, name, query string, args []any, items []dialect.Item,
	fn func([][]dialect.Value) error,
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
	items []dialect.Item,
) (batch [][]dialect.Value, size int, err error) {
	rows, err := t.tx.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	reader := dialect.NewRowReader(items)
	for rows.Next() {
		values, n, err := reader.Read(rows)
		if err != nil {
			return nil, 0, err
		}
		batch = append(batch, values)
		size += n
	}
	return batch, size, rows.Err()
}

// Attempt runs fn in a savepoint, so that the failure of one statement leaves the transaction, and
// with it the snapshot, usable.
func (t *pgTx) Attempt(ctx context.Context, name string, fn func() error) error {
	if _, err := t.tx.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	if err := fn(); err != nil {
		if !t.RowError(err) {
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

var _ dialect.Salvager = (*pgTx)(nil)

func (t *pgTx) RowError(err error) bool {
	var c fault.Caller
	var e *pq.Error
	// a value made the statement fail (class 22), or bytes that are not text (22021, 22P05)
	return !errors.As(err, &c) && errors.As(err, &e) && e.Code.Class() == "22"
}

func (t *pgTx) Finish(context.Context) error { return nil }

func (t *pgTx) Fetch(ctx context.Context, query string, args []any, items []dialect.Item) ([][]dialect.Value, error) {
	rows, _, err := t.fetchSized(ctx, query, args, items)
	return rows, err
}

func (t *pgTx) Batches(ctx context.Context, query string, args []any, items []dialect.Item,
	fn func([][]dialect.Value) error,
) error {
	return t.cursor(ctx, "safrasync_keys", query, args, items, fn)
}

// Reason returns what is wrong with one column of one row.
func (t *pgTx) Reason(col dialect.Column, failure error,
	ask func(dialect.Item) ([][]dialect.Value, error),
) phrase.Packed {
	var e *pq.Error
	if !errors.As(failure, &e) {
		return phrase.Pack("the database cannot read this value")
	}
	if e.Code != "22021" && e.Code != "22P05" {
		return phrase.Pack("the database cannot compute this value (SQLSTATE %s)", e.Code)
	}
	name := Syntax.Column(col.Name)
	rows, err := ask(dialect.Item{
		SQL: "CASE WHEN " + name + " IS NULL THEN NULL ELSE convert_to(concat(" + name +
			"), getdatabaseencoding()) END",
		Convert: func(v any) dialect.Value {
			raw, _ := v.([]byte)
			return dialect.TextValue(string(raw), dialect.Charset{})
		},
	})
	if err == nil && len(rows) > 0 && rows[0][0].Err != "" {
		return rows[0][0].Err
	}
	return phrase.Pack("bytes that are no valid text (SQLSTATE %s)", e.Code)
}

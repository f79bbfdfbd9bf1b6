package erp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stream reads through a cursor. The rows of one FETCH are taken off the wire
// before the caller sees the first of them: statement_timeout is then about the
// database's work alone, however slow the caller is, and memory is bounded by
// three batches: while the caller works on one, the next waits, and the one after
// it is fetched.
func (t *pgTx) stream(ctx context.Context, query func([]string) string, args []any, items []selectItem, fn func([]Value) error) (err error) {
	list := selectList(items)
	var u *unpacker
	if !slices.ContainsFunc(items, func(it selectItem) bool { return it.text == nil }) {
		u = newUnpacker(items, t.p.opt.TimeZone)
		list = []string{"ROW(" + strings.Join(u.list, ", ") + ")"}
	}
	const name = "safrasync_rows"
	if _, err := t.tx.ExecContext(ctx, "DECLARE "+name+" NO SCROLL CURSOR FOR "+query(list), args...); err != nil {
		return err
	}
	batches := make(chan [][]Value)
	enough := make(chan struct{}) // closed when the caller wants no more
	var failure error             // of the fetching; to be read when batches is closed
	go func() {
		defer close(batches)
		for n := fetchFirst; ; {
			batch, size, err := t.fetchBatch(ctx, fmt.Sprintf("FETCH FORWARD %d FROM %s", n, name), items, u)
			if err != nil {
				failure = err
				return
			}
			select {
			case batches <- batch:
			case <-enough:
				return
			}
			if len(batch) < n {
				return
			}
			n = min(fetchRows, n*4, 1+fetchBytes/(1+size/len(batch)))
		}
	}()
	for batch := range batches {
		if err := deliver(ctx, batch, fn); err != nil {
			close(enough)
			for range batches { // the connection is in use until the channel is closed
			}
			return err
		}
	}
	if failure != nil {
		return failure
	}
	_, err = t.tx.ExecContext(ctx, "CLOSE "+name)
	return err
}

func (t *pgTx) fetchBatch(ctx context.Context, query string, items []selectItem, u *unpacker) ([][]Value, int, error) {
	if u == nil {
		return t.fetchSized(ctx, query, nil, items)
	}
	return t.fetchPacked(ctx, query, u)
}

// fetchPacked fetches rows that come as one composite value each: database and
// driver have a tenth of the work with one value that they have with fifteen.
func (t *pgTx) fetchPacked(ctx context.Context, query string, u *unpacker) (batch [][]Value, size int, err error) {
	rows, err := t.tx.QueryContext(ctx, query)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var raw sql.RawBytes
	into := []any{&raw}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, 0, err
		}
		size += len(raw)
		if err := u.add(raw); err != nil {
			return nil, 0, err
		}
	}
	return u.take(), size, rows.Err()
}

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
	packed := !slices.ContainsFunc(items, func(it selectItem) bool { return it.text == nil })
	list := selectList(items)
	if packed {
		list = []string{"ROW(" + strings.Join(list, ", ") + ")"}
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
			batch, size, err := t.fetchBatch(ctx, fmt.Sprintf("FETCH FORWARD %d FROM %s", n, name), items, packed)
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

func (t *pgTx) fetchBatch(ctx context.Context, query string, items []selectItem, packed bool) ([][]Value, int, error) {
	if !packed {
		return t.fetchSized(ctx, query, nil, items)
	}
	return t.fetchPacked(ctx, query, items)
}

// slabRows is how many rows share one allocation.
const slabRows = 32

// fetchPacked fetches rows that come as one composite value each: database and
// driver have a tenth of the work with one value that they have with fifteen.
func (t *pgTx) fetchPacked(ctx context.Context, query string, items []selectItem) (batch [][]Value, size int, err error) {
	rows, err := t.tx.QueryContext(ctx, query)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var raw sql.RawBytes
	var slab []Value
	for rows.Next() {
		if err := rows.Scan(&raw); err != nil {
			return nil, 0, err
		}
		size += len(raw)
		if len(slab) < len(items) {
			slab = make([]Value, slabRows*len(items))
		}
		values := slab[:len(items):len(items)]
		slab = slab[len(items):]
		if err := unpack(string(raw), items, values); err != nil {
			return nil, 0, err
		}
		batch = append(batch, values)
	}
	return batch, size, rows.Err()
}

func errUnpack() error {
	return failf(CodeOther, "the database wrote a row in a form that it does not document; report this as a fault of the program")
}

// unpack takes the text of a composite value apart: fields between commas, those
// with blanks and special characters in quotes, which are doubled within, as
// backslashes are. A field without anything is NULL; an empty text is two quotes.
func unpack(row string, items []selectItem, into []Value) error {
	if len(row) < 2 || row[0] != '(' || row[len(row)-1] != ')' {
		return errUnpack()
	}
	at := 1
	for i := range items {
		if at >= len(row) {
			return errUnpack()
		}
		switch row[at] {
		case ',', ')': // NULL
		case '"':
			text, next, ok := quoted(row, at+1)
			if !ok {
				return errUnpack()
			}
			into[i], at = items[i].text(text), next
		default:
			end := at + strings.IndexAny(row[at:], ",)")
			into[i], at = items[i].text(row[at:end]), end
		}
		if last := i == len(items)-1; at >= len(row) || last != (at == len(row)-1) || !last && row[at] != ',' {
			return errUnpack()
		}
		at++
	}
	return nil
}

// quoted reads a text in quotes from behind the first one, and tells where it goes on.
func quoted(row string, from int) (text string, next int, ok bool) {
	for at := from; at < len(row); at++ {
		switch {
		case row[at] == '\\', row[at] == '"' && at+1 < len(row) && row[at+1] == '"':
			return unquoted(row, from)
		case row[at] == '"':
			return row[from:at], at + 1, true
		}
	}
	return "", 0, false
}

// unquoted is quoted for a text that has doubled characters.
func unquoted(row string, from int) (text string, next int, ok bool) {
	var b strings.Builder
	for at := from; at < len(row); at++ {
		c := row[at]
		double := (c == '"' || c == '\\') && at+1 < len(row) && row[at+1] == c
		switch {
		case double:
			at++
		case c == '"':
			return b.String(), at + 1, true
		case c == '\\':
			return "", 0, false
		}
		b.WriteByte(c)
	}
	return "", 0, false
}

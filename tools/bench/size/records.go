package size

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// recordColumns are the columns of a record that are written; its id is that of its entry.
var recordColumns = []string{
	"id", "origin", "entry_id", "kind", "job", "key", "generation", "certainty", "remote_id", "parent", "sent_cells",
	"sent_payload", "sent_fields", "sent_ab", "sent_ac", "sent_bc", "kg", "sent_at", "version",
}

// recordsAtOnce is how many records one statement writes.
const recordsAtOnce = 500

// records gives every pending entry the record that its last attempt made. The doctor compares the
// fingerprints with what was sent.
func (w *World) records(ctx context.Context, c *sql.Conn, remote string) error {
	for after := int64(0); ; {
		values, last, err := recordsAfter(ctx, c, remote, after)
		if err != nil || len(values) == 0 {
			return err
		}
		if err := w.insert(ctx, c, values); err != nil {
			return err
		}
		after = last
	}
}

// recordsAfter returns the values of the next records, and the number of the last one.
func recordsAfter(ctx context.Context, c *sql.Conn, remote string, after int64) (values []any, last int64, err error) {
	rows, err := c.QueryContext(ctx, fmt.Sprintf(`SELECT id, job, sends, key, source_hash, target, payload, amount, unit, first_seen_at, %s
		FROM entry JOIN body ON entry_id = id WHERE state = 'pending' AND id > %d ORDER BY id LIMIT %d`, remote, after, recordsAtOnce))
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var at int64
		var amount, remoteID string
		var e trade.Entry
		if err := rows.Scan(&last, &e.Job, &e.Sends, &e.Key, &e.SourceHash, &e.Target, (*[]byte)(&e.Payload), &amount,
			&e.Quantity.Unit, &at, &remoteID); err != nil {
			return nil, 0, err
		}
		e.Quantity.Amount, err = trade.ParseSum(amount)
		if err != nil {
			return nil, 0, err
		}
		kg, _ := e.Quantity.Kilograms()
		p := trade.PrintsOf(e.Sends, e.SourceHash, e.Target, e.Payload)
		pairs := p.Pairs(e.Sends)
		values = append(values, last, last, last, e.Sends, e.Job, e.Key, 1, trade.Made, remoteID,
			trade.ParentOf(e.Sends, e.Target, e.Payload), p.Cells, p.Payload, p.Fields, pairs[0], pairs[1], pairs[2],
			kg.String(), at, 2)
	}
	return values, last, rows.Err()
}

// insert writes the values of records in one statement.
func (w *World) insert(ctx context.Context, c *sql.Conn, values []any) error {
	var text strings.Builder
	text.WriteString(`INSERT INTO sent (` + strings.Join(recordColumns, ", ") + `) VALUES `)
	n := 0
	for row := range slices.Chunk(values, len(recordColumns)) {
		marks := make([]string, len(row))
		for i := range row {
			n++
			marks[i] = "?"
			if w.Ledger.Driver == Postgres {
				marks[i] = fmt.Sprint("$", n)
			}
		}
		if n > len(row) {
			text.WriteString(", ")
		}
		text.WriteString("(" + strings.Join(marks, ", ") + ")")
	}
	_, err := c.ExecContext(ctx, text.String(), values...)
	return err
}

package state

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const copying = "copying the ledger"

func (m *moving) fillIn(t *sqldb.Tx, record trade.AuditRecord) error {
	restore, err := withoutTriggers(t)
	if err != nil {
		return err
	}
	m.plan.Tables = nil
	for _, table := range movedTables {
		copied, err := m.copyTable(t, table)
		if err != nil {
			return phrase.Errorf("table %s: %w", table, err)
		}
		m.plan.Tables = append(m.plan.Tables, copied)
	}
	// for the witness it is a new ledger
	if err := errors.Join(t.Do(`DELETE FROM task WHERE name LIKE ?`, witnessTasks+"%"), restore()); err != nil {
		return err
	}
	var was struct {
		RefsVersion, LookupKey, Platform string
	}
	if err := m.from.db.Get(t.Ctx, copying, &was, `SELECT refs_version, lookup_key, platform FROM ledger`); err != nil {
		return err
	}
	if err := t.Do(`UPDATE ledger SET refs_version = ?, lookup_key = ?, platform = ?, moved_from = ?`, was.RefsVersion,
		was.LookupKey, was.Platform, m.from.db.ID); err != nil {
		return err
	}
	// the old journals are retired: they end with the old ledger
	var rows []sqldb.JournalRow
	if err := m.from.db.All(t.Ctx, copying, &rows,
		`SELECT id, seq, mark, host, path, at, retired_at FROM journal`); err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	for _, r := range rows {
		if !r.RetiredAt.Valid {
			r.RetiredAt.Valid, r.RetiredAt.Int64 = true, now
		}
		if err := t.Do(`INSERT INTO journal (id, seq, mark, host, path, at, retired_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Seq, r.Mark, r.Host, r.Path, r.At, r.RetiredAt); err != nil {
			return err
		}
	}
	if t.S.D.Name == sqldb.Postgres { // SQLite keeps the highest number itself
		for table, column := range map[string]string{
			"entry": "id", "sent": "id", "audit": "seq", "run": "seq", "person": "id",
			"inbox": "seq", "approval": "id",
		} {
			var next int64 // new rows get numbers above those that were copied
			if err := t.Get(&next, `SELECT setval(pg_get_serial_sequence('`+table+`', '`+column+`'), COALESCE((SELECT MAX(`+
				column+`) FROM `+table+`), 0) + 1, false)`); err != nil {
				return err
			}
		}
	}
	if err := newLife(t); err != nil {
		return err
	}
	if err := doubtAll(t, time.Now()); err != nil {
		return err
	}
	record.Target = "ledger " + m.from.db.ID
	return books.AddAudit(t, record)
}

// copyTable copies one table, then reads it back: both sides must have the same rows.
func (m *moving) copyTable(t *sqldb.Tx, table string) (MoveTable, error) {
	out := MoveTable{Name: table}
	// the row that a new ledger begins with: audit_head
	if err := t.Do(`DELETE FROM ` + table); err != nil {
		return out, err
	}
	there, err := m.columns(t.Ctx, m.from.db.Read, table)
	if err != nil {
		return out, err
	}
	here, err := m.columns(t.Ctx, t.Tx, table)
	if err != nil || !slices.Equal(there, here) {
		return out, errors.Join(phrase.Errorf("its columns are %v and %v", there, here), err)
	}
	var batch [][]any
	flush := func() error {
		err := t.InsertRows(table, there, batch, "")
		batch = batch[:0]
		return err
	}
	sent, err := eachRow(t.Ctx, m.from.db.Read, table, there, func(row []any) error {
		batch = append(batch, row)
		if len(batch) < sqldb.BulkRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return out, err
	}
	arrived, err := eachRow(t.Ctx, t.Tx, table, there, func([]any) error { return nil })
	if err != nil {
		return out, err
	}
	if sent != arrived {
		return out,
			phrase.Errorf(
				"%d rows went and %d arrived, or some are not the same: the two databases cannot hold the same values",
				sent.rows, arrived.rows)
	}
	var sum [32]byte
	for i, n := range sent.sum {
		binary.BigEndian.PutUint64(sum[8*i:], n)
	}
	out.Rows, out.Hash = sent.rows, hex.EncodeToString(sum[:])
	return out, nil
}

// columns returns the columns of a table in the order of their names.
func (m *moving) columns(ctx context.Context, db sqlx.QueryerContext, table string) ([]string, error) {
	rows, err := db.QueryxContext(ctx, `SELECT * FROM `+table+` WHERE 1 = 0`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	slices.Sort(names)
	return names, errors.Join(err, rows.Err())
}

// rowsHash hashes the rows of a table independently of their order, because the two databases sort
// differently.
type rowsHash struct {
	rows int
	sum  [4]uint64
}

// eachRow calls fn with each row of a table, its values as numbers and strings, and returns the
// hash of all rows.
func eachRow(ctx context.Context, db sqlx.QueryerContext, table string, columns []string,
	fn func([]any) error,
) (h rowsHash, err error) {
	rows, err := db.QueryxContext(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM `+table)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return h, err
		}
		for i, v := range row {
			switch b, ok := v.([]byte); {
			case ok && sqldb.HashColumns[columns[i]]:
				row[i] = trade.Hash(hex.EncodeToString(b))
			case ok:
				row[i] = string(b)
			}
		}
		d := sha256.New()
		for _, v := range row {
			text := "\x00null"
			if v != nil {
				text = fmt.Sprint(v)
			}
			_, _ = fmt.Fprintf(d, "%d:%s", len(text), text) // writing to a hash never fails
		}
		digest := d.Sum(nil)
		h.rows++
		for i := range h.sum {
			h.sum[i] += binary.BigEndian.Uint64(digest[8*i:])
		}
		if err := fn(row); err != nil {
			return h, err
		}
	}
	return h, rows.Err()
}

// withoutTriggers disables the triggers, so that rows can be inserted in any state, including those
// in which no entry may start. The caller must call restore before the transaction ends; it enables
// the triggers again.
func withoutTriggers(t *sqldb.Tx) (restore func() error, err error) {
	if t.S.D.Name == sqldb.Postgres {
		each := func(do string) error {
			for _, table := range []string{"entry", "body", "sent", "former", "exchange", "audit"} {
				if err := t.Do(`ALTER TABLE ` + table + ` ` + do + ` TRIGGER USER`); err != nil {
					return err
				}
			}
			return t.Do(`SET LOCAL statement_timeout = 0`)
		}
		return func() error { return each("ENABLE") }, each("DISABLE")
	}
	var triggers []struct {
		Name, SQL string
	}
	if err := t.All(&triggers, `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`); err != nil {
		return nil, err
	}
	for _, g := range triggers {
		if err := t.Do(`DROP TRIGGER ` + g.Name); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, g := range triggers {
			if err := t.Do(g.SQL); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

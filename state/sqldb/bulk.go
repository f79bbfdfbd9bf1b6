package sqldb

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// BulkRows limits the rows of one statement: SQLite accepts 32,766 parameters, PostgreSQL 65,535,
// and a longer text costs more to parse than it saves.
const BulkRows = 250

// numberColumns are the columns that hold integers, for the casts that PostgreSQL needs in a list
// of values.
var numberColumns = map[string]bool{
	"id": true, "generation": true, "attempts": true, "next_attempt_at": true, "first_seen_at": true,
	"updated_at": true, "gone_sweeps": true,
	"entry_id": true, "origin": true, "no": true, "epoch": true, "started_at": true, "version": true,
	"finished_at":     true,
	"resend_audit_id": true, "record_id": true, "decided_by": true, "counts": true, "status": true, "reduced_at": true,
	"content": true, "shown_mark": true, "day": true, "kilograms": true, "worth": true, "weak": true, "late": true,
	"volume": true, "sendable": true,
	"sent_ab": true, "sent_ac": true, "sent_bc": true, "new_ab": true, "new_ac": true, "new_bc": true,
	"seen_ab": true, "seen_ac": true, "seen_bc": true, "sent_at": true,
}

// HashColumns are the columns that hold hashes.
var HashColumns = map[string]bool{
	"source_hash": true, "payload_hash": true, "another": true,
	"sent_cells": true, "sent_payload": true, "sent_fields": true,
	"new_cells": true, "new_payload": true, "new_fields": true,
	"seen_cells": true, "seen_payload": true, "seen_fields": true,
}

// manyRows are the tables that get many rows at once.
var manyRows = []string{"sent", "exchange", "body", "listing", "sighting"}

// wasSuffix names, in a list of values, what a column must have had.
const wasSuffix = "_was"

// kindOf returns the SQL type of a column.
func (d Dialect) kindOf(column string) string {
	column = strings.TrimSuffix(column, wasSuffix)
	switch {
	case HashColumns[column]:
		return d.Bytes
	case numberColumns[column]:
		return "BIGINT"
	}
	return "TEXT"
}

// Values returns the placeholders of rows for INSERT … VALUES.
func Values(rows, columns int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", columns), ", ") + ")"
	return strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

// InsertRows inserts rows. suffix is appended to the statement.
func (t *Tx) InsertRows(table string, columns []string, rows [][]any, suffix string) error {
	switch {
	case t.S.D.Name == SQLite:
		_, err := t.eachRow(InsertText(table, columns, 1, suffix), rows)
		return err
	case slices.Contains(manyRows, table) && len(rows) > 1:
		_, err := t.unnested(columns, rows, func(list string) string {
			names := strings.Join(columns, ", ")
			return "INSERT INTO " + table + " (" + names + ") SELECT * FROM " + list + " " + suffix
		})
		return err
	}
	for chunk := range slices.Chunk(rows, BulkRows) {
		if err := t.Do(InsertText(table, columns, len(chunk), suffix), slices.Concat(chunk...)...); err != nil {
			return err
		}
	}
	return nil
}

// InsertText returns the text of an INSERT of the given number of rows.
func InsertText(table string, columns []string, rows int, suffix string) string {
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + Values(rows, len(columns)) +
		" " + suffix
}

// UpdateRows updates rows by the key in their first column. All of them must exist: the caller has
// locked them.
func (t *Tx) UpdateRows(table string, columns []string, rows [][]any) error {
	return t.ChangeRows(table, columns, nil, rows)
}

// ChangeRows is like UpdateRows for rows that were not read. The values of a row are those of columns, and
// then those that the columns of was must have had. It fails with [MissedError] if a row is not so.
func (t *Tx) ChangeRows(table string, columns, was []string, rows [][]any) error {
	set := columns[1:]
	if t.S.D.Name == Postgres && len(rows) > 1 {
		list := append(slices.Clone(columns), trade.Map(was, func(c string) string { return c + wasSuffix })...)
		text := strings.Join(trade.Map(set, func(c string) string { return c + " = v." + c }), ", ")
		where := table + "." + columns[0] + " = v." + columns[0]
		for _, c := range was {
			where += " AND " + table + "." + c + " = v." + c + wasSuffix
		}
		n, err := t.unnested(list, rows, func(list string) string {
			return "UPDATE " + table + " SET " + text + " FROM " + list + " WHERE " + where
		})
		return AllWritten(table, n, len(rows), err)
	}
	keyLast := trade.Map(rows, func(row []any) []any {
		return slices.Concat(row[1:len(columns)], row[:1], row[len(columns):])
	})
	text := "UPDATE " + table + " SET " + strings.Join(set, " = ?, ") + " = ? WHERE " +
		strings.Join(append(columns[:1:1], was...), " = ? AND ") + " = ?"
	n, err := t.eachRow(text, keyLast)
	return AllWritten(table, n, len(rows), err)
}

// AddRows inserts rows whose ids the database assigns, and returns the ids. It fails with [MissedError] if
// another row has the values of one in the columns of unique.
func (t *Tx) AddRows(table string, columns []string, rows [][]any, unique string) (ids []int64, err error) {
	unless := "ON CONFLICT (" + unique + ") DO NOTHING"
	if t.S.D.Name == SQLite {
		query := InsertText(table, columns, 1, unless)
		for _, row := range rows {
			result, err := t.exec(query, row...)
			if err != nil {
				return nil, err
			}
			id, err := result.LastInsertId()
			if err != nil {
				return nil, err
			}
			n, err := result.RowsAffected()
			if err != nil || n == 0 {
				return nil, AllWritten(table, len(ids), len(rows), err)
			}
			ids = append(ids, id)
		}
		return ids, nil
	}
	err = EachArray(columns, rows, func(list string, args []any) error {
		var some []int64
		err := t.All(&some, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") SELECT * FROM "+list+" "+unless+
			" RETURNING id", args...)
		slices.Sort(some) // they were assigned in the order of the list
		ids = append(ids, some...)
		return err
	})
	return ids, AllWritten(table, len(ids), len(rows), err)
}

// MissedError is returned if the rows that were to be written are not as their caller has read them.
type MissedError struct{ *phrase.Text }

// AllWritten returns an error if a statement changed another number of rows than its caller has
// locked.
func AllWritten(table string, n, want int, err error) error {
	if err == nil && n != want {
		return &MissedError{phrase.New("%d rows of %s were written, expected %d: the ledger was changed by something else", n,
			table, want)}
	}
	return err
}

// Among returns the condition that a column has one of the values of a single argument, which
// [ListOf] makes. The text of the statement is the same for any number of values.
func (d Dialect) Among(column string) string {
	if d.Name == SQLite {
		return column + " IN (SELECT value FROM json_each(?))"
	}
	return column + " = ANY(?)"
}

// ListOf returns the argument for [Dialect.Among].
func ListOf[T int64 | string](d Dialect, values []T) any {
	if d.Name != SQLite {
		return pq.Array(values)
	}
	text, err := json.Marshal(values)
	if err != nil {
		return "[]"
	}
	return string(text)
}

// AmongHashes is like Among for hashes, whose argument [HashesOf] makes.
func (d Dialect) AmongHashes(column string) string {
	if d.Name == SQLite {
		return column + " IN (SELECT unhex(value) FROM json_each(?))"
	}
	return column + " = ANY(CAST(? AS BYTEA[]))"
}

// HashesOf returns the argument for [Dialect.AmongHashes].
func HashesOf(d Dialect, hashes []trade.Hash) any {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = string(h)
		if d.Name == Postgres {
			texts[i] = `\x` + texts[i]
		}
	}
	return ListOf(d, texts)
}

// Placeholders returns n placeholders for IN (…).
func Placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// Anys returns values of one type as arguments of a statement.
func Anys[T any](s []T) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// InList limits the values of an IN (…).
const InList = 500

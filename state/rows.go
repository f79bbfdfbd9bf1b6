// The row of the table entry, and its conversions.

package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// entryRow is a row of the tables entry and body as it is written: the entry, and of it what queries ask
// for.
type entryRow struct {
	trade.Entry
	ShownMark, Weak, Sendable int64
	ContractID                string
	Volume                    sql.NullInt64
	EntryID                   int64 // of the body
}

var (
	bodyColumns = []string{
		"entry_id", "target", "payload", "cells", "now_cells", "ack_cells", "shown", "facts", "warnings",
	}
	entryColumns = slices.DeleteFunc(sqldb.Columns[entryRow](), func(c string) bool {
		return slices.Contains(append([]string{"remote_id", "moved_id", "recorded_by"}, bodyColumns...), c)
	})
)

// newColumns are the columns of a new entry; the database assigns its id.
var newColumns = entryColumns[1:]

// updateColumns are the columns that an update may change, and the id that finds the entry.
var updateColumns = slices.DeleteFunc(slices.Clone(entryColumns), func(c string) bool {
	return slices.Contains([]string{"job", "sends", "key", "first_seen_at"}, c)
})

// selectEntry selects whole entries (trade.Entry), with what their records say.
var selectEntry = `SELECT ` + selected(slices.DeleteFunc(slices.Concat([]string{"id"}, bodyColumns[1:], entryColumns[1:]), func(c string) bool {
	return slices.Contains([]string{"weak", "sendable", "contract_id", "volume"}, c)
})) + `, COALESCE(` + ownID + `, '') AS remote_id, COALESCE(` + givenID + `, '') AS moved_id,
	COALESCE(r.decided_by, 0) AS recorded_by ` + fromEntry + joinRecord

// fromEntry joins entries and their bodies. The sum makes each body be looked up: PostgreSQL would merge
// both tables by their keys, and read all bodies before the first entry that is asked for.
const fromEntry = `FROM entry e JOIN body b ON b.entry_id = e.id + 0 `

// ownID and givenID are the platform's id that an entry has, and the one that it gave away; joinRecord
// joins the record on which it rests.
const (
	ownID   = `CASE WHEN r.entry_id = e.id THEN r.remote_id END`
	givenID = `CASE WHEN r.entry_id <> e.id THEN r.remote_id END`

	joinRecord = `LEFT JOIN sent r ON r.id = e.record_id `
)

func prefixed(table string, columns []string) string {
	return table + "." + strings.Join(columns, ", "+table+".")
}

// selected returns columns of an entry, or of its body, as they are read: the mark of the shown texts is
// read after these.
func selected(columns []string) string {
	return strings.Join(trade.Map(columns, func(c string) string {
		switch c {
		case "record_id", "resend_audit_id":
			return `COALESCE(e.` + c + `, 0) AS ` + c
		case "dismissal":
			return `CASE WHEN e.state = 'dismissed' THEN e.dismissal END AS dismissal`
		case "shown_mark":
			return `e.shown_mark AS "shown.mark"`
		}
		if slices.Contains(bodyColumns, c) {
			return `b.` + c
		}
		return `e.` + c
	}), ", ")
}

// entryRowOf returns the row of an entry. Required times that are zero become now.
func entryRowOf(e trade.Entry, now time.Time) *entryRow {
	e.Generation, e.Version = max(e.Generation, 1), max(e.Version, 1)
	e.FirstSeenAt = time.UnixMilli(sqldb.AtOr(e.FirstSeenAt, now)).UTC()
	e.UpdatedAt = time.UnixMilli(sqldb.AtOr(e.UpdatedAt, now)).UTC()
	if len(e.Payload) > 0 || !e.Values.Marked() || !e.Now.Marked() || !e.AckValues.Marked() {
		e.ReducedAt = time.Time{} // it has contents again
	}
	if !e.ReducedAt.IsZero() {
		e.Shown.Texts, e.Facts = nil, trade.Facts{}
	}
	if e.State != trade.Dismissed {
		e.Dismissal = nil
	}
	return &entryRow{
		Entry:     e,
		ShownMark: e.Shown.Mark, Weak: weakOf(e.Error), Sendable: sendableOf(e), ContractID: contractOf(e),
		Volume: volumeOf(e.Amount), EntryID: e.ID,
	}
}

// fits reports whether the columns that queries ask for say what the entry says.
func (r *entryRow) fits() bool {
	return r.ContractID == contractOf(r.Entry) && r.Weak == weakOf(r.Error) && r.Volume == volumeOf(r.Amount) &&
		r.Sendable == sendableOf(r.Entry)
}

// contractOf returns the platform's id of the contract that an entry's request names, as both databases
// can store it.
func contractOf(e trade.Entry) string {
	return sqldb.CleanText(trade.ParentOf(e.Sends, e.Target, e.Payload))
}

// weakOf returns the column weak of a row with an error.
func weakOf(e *trade.EntryError) int64 {
	if e != nil && e.Weak {
		return 1
	}
	return 0
}

// sendableOf returns the column sendable of an entry.
func sendableOf(e trade.Entry) int64 { return int64(min(len(e.Payload), 1)) }

func numberOrNull(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: n != 0} }

// listText returns the JSON text of a list; nil and empty lists have the same text.
func listText[T any](s []T) (string, error) {
	if len(s) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(s)
	return string(text), err
}

// isSettled is the condition of the index entry_body. SQLite uses it only if a query has it in exactly
// these words. It is not an IN list, because SQLite would build a table of the list for each row that
// is written.
const isSettled = `(e.state = 'accepted' OR e.state = 'dismissed' OR e.state = 'withdrawn')`

// isStuck is the condition of the index entry_stuck. SQLite uses the index only if a query has it
// in exactly these words (see isSettled).
const isStuck = `(e.state = 'waiting' OR e.state = 'invalid' OR e.state = 'rejected' OR e.state = 'in_doubt' OR e.state = 'held')`

// selectEntries returns the entries that match an SQL condition.
func (s *Store) selectEntries(ctx context.Context, op, where string, args ...any) ([]trade.Entry, error) {
	return sqldb.List[trade.Entry](ctx, s.db, op, selectEntry+where, args...)
}

// Updates of entries by compare-and-set.

package state

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// narrowRow holds the columns of an entry that a write needs.
type narrowRow struct {
	ID, Version, Weak                                  int64
	Job, Sends, Key, State, Flags, Amount, Unit, Cause string
	Acknowledged, WaitingFor                           string
	Error, Dismissal                                   sql.NullString
	Generation, Attempts                               int
	RecordID, NextAttemptAt                            sql.NullInt64
	SourceHash, PayloadHash                            trade.Hash
}

// narrowOf returns the row of an entry that is as its reader has it.
func narrowOf(e trade.Entry) *narrowRow {
	flags, _ := listText(e.Flags) //nolint:errchkjson // of texts
	acknowledged, _ := listText(e.Acknowledged)
	return &narrowRow{
		ID: e.ID, Version: e.Version, Job: e.Job, Sends: string(e.Sends), Key: e.Key, State: string(e.State),
		Flags: flags, Amount: e.Quantity.Amount.String(), Unit: string(e.Quantity.Unit), Acknowledged: acknowledged,
		WaitingFor: "[]", Generation: e.Generation, Attempts: e.Attempts,
		SourceHash: e.SourceHash, PayloadHash: e.PayloadHash,
	}
}

// selectNarrow selects the columns of a narrowRow.
const selectNarrow = `SELECT e.id, e.job, e.sends, e.key, e.state, e.record_id, e.flags, e.generation, e.attempts, e.amount, e.unit, e.version,
	e.cause, e.error, e.weak, e.waiting_for, e.next_attempt_at, e.acknowledged, e.dismissal, e.source_hash, e.payload_hash FROM entry e `

func (e *narrowRow) id() int64 { return e.ID }

// lockSendings locks what was sent of entries until the transaction ends. Whoever changes both locks
// sendings before entries, each in id order, as a group does.
func lockSendings(t *sqldb.Tx, entries []int64) error {
	if t.S.D.Lock == "" {
		return nil
	}
	query := t.S.D.Locked(`SELECT id FROM sent WHERE `+t.S.D.Among("origin")+` ORDER BY id`, "sent")
	return t.All(&[]int64{}, query, sqldb.ListOf(t.S.D, entries))
}

// lockEntries reads entries and locks them until the transaction ends, in id order, so that two
// transactions do not deadlock.
func lockEntries(t *sqldb.Tx, ids []int64) (map[int64]*narrowRow, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := make(map[int64]*narrowRow, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	query := selectNarrow + `WHERE ` + t.S.D.Among("e.id") + ` ORDER BY e.id`
	rows := make([]narrowRow, 0, len(ids))
	if err := t.All(&rows, t.S.D.Locked(query, "e"), sqldb.ListOf(t.S.D, ids)); err != nil {
		return nil, err
	}
	for i := range rows {
		out[rows[i].ID] = &rows[i]
	}
	return out, nil
}

// move makes the entry move, and keeps the row current. counted is added to its number of attempts. It
// reports whether the entry may move so; otherwise nothing changes.
func (e *narrowRow) move(counted int, move func(*trade.Entry) bool) (bool, error) {
	to := trade.Entry{State: trade.State(e.State), Cause: e.Cause, NextAttemptAt: sqldb.Instant(e.NextAttemptAt)}
	if e.Error.Valid {
		to.Error = &trade.EntryError{}
	}
	err := decodeColumns(e.ID, []jsonColumn{
		{"error", e.Error.String, to.Error, ""},
		{"waiting_for", e.WaitingFor, &to.WaitingFor, "[]"},
		{"flags", e.Flags, &to.Flags, "[]"},
	})
	if err != nil || !move(&to) {
		return false, err
	}
	e.Attempts, e.Version = e.Attempts+counted, e.Version+1
	return true, e.take(to)
}

// take gives the row the state of an entry, with its reasons and flags.
func (e *narrowRow) take(to trade.Entry) error {
	var faults [3]error
	e.WaitingFor, faults[0] = listText(to.WaitingFor)
	e.Flags, faults[1] = listText(to.Flags)
	var text []byte
	if to.Error != nil {
		text, faults[2] = json.Marshal(to.Error)
	}
	e.State, e.Cause, e.NextAttemptAt = string(to.State), sqldb.CleanText(to.Cause), sqldb.Millis(to.NextAttemptAt)
	e.Error, e.Weak = textOrNull(string(text)), weakOf(to.Error)
	return errors.Join(faults[:]...)
}

// writeMoved writes rows that have all made the same move, which leaves their flags.
func writeMoved(t *sqldb.Tx, rows []*narrowRow, counted int, now time.Time) error {
	for chunk := range slices.Chunk(rows, sqldb.ArrayRows) {
		ids, as := trade.Map(chunk, (*narrowRow).id), chunk[0]
		n, err := t.Changed(`UPDATE entry SET state = ?, cause = ?, error = ?, weak = ?, waiting_for = ?, next_attempt_at = ?,
			attempts = attempts + ?, updated_at = ?, version = version + 1 WHERE `+t.S.D.Among("id"), as.State, as.Cause,
			as.Error, as.Weak, as.WaitingFor, as.NextAttemptAt, counted, sqldb.AtOr(now, time.Time{}),
			sqldb.ListOf(t.S.D, ids))
		if err = sqldb.AllWritten("entry", n, len(chunk), err); err != nil {
			return err
		}
	}
	return nil
}

// updateIDs returns the ids of the entries of updates.
func updateIDs(updates []trade.Update) []int64 {
	return trade.Map(updates, func(u trade.Update) int64 { return u.Entry.ID })
}

// applyUpdates writes the updates whose entry is still as it was read, and returns how many others
// there were. entries must be locked, and records must be theirs; applyUpdates keeps both current,
// and the caller must Note the records. The journal is told of entries that were sent and whose rows
// have since changed or left their keys, or are again as they were sent: their present content is not
// sent under another key, and nothing is sent that refers to them.
func applyUpdates(t *sqldb.Tx, entries map[int64]*narrowRow, records *recordSet, updates []trade.Update,
	now time.Time,
) (lost int, err error) {
	var rows []*entryRow
	var rests []*ownedRecord // by which they are accepted from now on
	var listed []trade.Entry
	done := map[int64]bool{}
	for _, u := range updates {
		to := u.Entry.State
		if u.From != to && (to == trade.Sending || u.From == trade.Sending) {
			return 0,
				fmt.Errorf(
					"an update may not move an entry from %s to %s: only an intent begins to send, and only a settlement ends it", u.From, to)
		}
		e := entries[u.Entry.ID]
		if e == nil || e.Version != u.Entry.Version || e.State != string(u.From) || done[e.ID] {
			lost++
			continue
		}
		done[e.ID] = true
		if u.From.Created() && (u.Entry.Flags.Has(trade.Changed) || u.Entry.Flags.Has(trade.Replaced) ||
			strings.Contains(e.Flags, changedText) || strings.Contains(e.Flags, replacedText)) {
			records.touch(e)
		}
		row, err := entryRowOf(u.Entry, now)
		if err != nil {
			return 0, err
		}
		row.Version, row.RecordID = e.Version+1, e.RecordID
		rests = append(rests, records.follow(e, u))
		e.State, e.Amount, e.Unit, e.Version = row.State, row.Amount, row.Unit, row.Version
		e.Flags, e.Generation, e.Attempts = row.Flags, row.Generation, row.Attempts
		e.Cause, e.Error, e.Weak = row.Cause, row.Error, row.Weak
		e.WaitingFor, e.NextAttemptAt = row.WaitingFor, row.NextAttemptAt
		e.Acknowledged, e.Dismissal = row.Acknowledged, row.Dismissal
		e.SourceHash, e.PayloadHash = row.SourceHash, row.PayloadHash
		rows = append(rows, row)
		listed = append(listed, row.left(u.Entry, e.Job))
	}
	if err := records.Write(); err != nil { // an entry is accepted by a record that exists
		return lost, err
	}
	written := make([][]any, len(rows))
	for i, row := range rows {
		if on := rests[i]; on != nil {
			row.RecordID = numberOrNull(on.ID)
			entries[row.ID].RecordID = row.RecordID
		}
		written[i] = sqldb.Pick(row, updateColumns)
	}
	if err := t.UpdateRows("entry", updateColumns, written); err != nil {
		return lost, err
	}
	return lost, writeListings(t, listed)
}

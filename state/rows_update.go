// Updates of entries by compare-and-set.

package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// lockedColumns are what a write needs of an entry (trade.Entry); selectLocked selects them.
var lockedColumns = []string{
	"id", "job", "sends", "key", "state", "record_id", "flags", "generation", "attempts", "amount", "unit", "version",
	"cause", "error", "waiting_for", "next_attempt_at", "acknowledged", "dismissal", "source_hash", "payload_hash",
}

var selectLocked = `SELECT ` + selected(lockedColumns) + ` FROM entry e `

func idOf(e *trade.Entry) int64 { return e.ID }

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
func lockEntries(t *sqldb.Tx, ids []int64) (map[int64]*trade.Entry, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := make(map[int64]*trade.Entry, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	query := selectLocked + `WHERE ` + t.S.D.Among("e.id") + ` ORDER BY e.id`
	rows := make([]trade.Entry, 0, len(ids))
	if err := t.All(&rows, t.S.D.Locked(query, "e"), sqldb.ListOf(t.S.D, ids)); err != nil {
		return nil, err
	}
	for i := range rows {
		out[rows[i].ID] = &rows[i]
	}
	return out, nil
}

// stateColumns are the columns of an entry that a move changes.
var stateColumns = []string{
	"id", "state", "cause", "error", "weak", "waiting_for", "next_attempt_at", "updated_at", "version",
}

// moveEntry makes an entry move. counted is added to its number of attempts. It reports whether the
// entry may move so; otherwise nothing changes.
func moveEntry(e *trade.Entry, counted int, now time.Time, move func(*trade.Entry) bool) bool {
	if !move(e) {
		return false
	}
	e.Cause, e.Attempts = sqldb.CleanText(e.Cause), e.Attempts+counted
	e.Version, e.UpdatedAt = e.Version+1, time.UnixMilli(sqldb.AtOr(now, time.Time{})).UTC()
	e.NextAttemptAt = e.NextAttemptAt.UTC().Truncate(time.Millisecond)
	return true
}

// movedValues returns the values of columns of an entry that has moved.
func movedValues(e *trade.Entry, columns []string) []any {
	return sqldb.Pick(&entryRow{Entry: *e, Weak: weakOf(e.Error)}, columns)
}

// updateIDs returns the ids of the entries of updates.
func updateIDs(updates []trade.Update) []int64 {
	return trade.Map(updates, func(u trade.Update) int64 { return u.Entry.ID })
}

// applyUpdates writes the updates whose entry is still as it was read, and returns how many others
// there were. entries must be locked, and records must be theirs; applyUpdates keeps both current,
// and the caller must note the records for the journal. Entries that were sent are noted when their rows
// have changed or left their keys, or are again as sent: their new content must not go under another
// key, and no child may go under them.
func applyUpdates(t *sqldb.Tx, entries map[int64]*trade.Entry, records *recordSet, updates []trade.Update,
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
		if e == nil || e.Version != u.Entry.Version || e.State != u.From || done[e.ID] {
			lost++
			continue
		}
		done[e.ID] = true
		if u.From.MayBeOnPlatform() && (u.Entry.Flags.Has(trade.Changed) || u.Entry.Flags.Has(trade.Replaced) ||
			e.Flags.Has(trade.Changed) || e.Flags.Has(trade.Replaced)) {
			records.touch(e)
		}
		row := entryRowOf(u.Entry, now)
		row.Version, row.RecordID = e.Version+1, e.RecordID
		rests = append(rests, records.applyUpdate(e, u))
		row.Job, row.Sends, row.Key = e.Job, e.Sends, e.Key
		*e = row.Entry
		rows = append(rows, row)
		listed = append(listed, listedOf(row))
	}
	if err := records.Write(); err != nil { // an entry is accepted by a record that exists
		return lost, err
	}
	written, bodies := make([][]any, len(rows)), make([][]any, len(rows))
	for i, row := range rows {
		if on := rests[i]; on != nil {
			row.RecordID, entries[row.ID].RecordID = on.ID, on.ID
		}
		written[i], bodies[i] = sqldb.Pick(row, updateColumns), sqldb.Pick(row, bodyColumns)
	}
	if err := t.UpdateRows("entry", updateColumns, written); err != nil {
		return lost, err
	}
	if err := t.UpdateRows("body", bodyColumns, bodies); err != nil {
		return lost, err
	}
	return lost, writeListings(t, listed)
}

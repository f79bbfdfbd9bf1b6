// The row of the table entry, and its conversions.

package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// entryRow is a row of the table entry.
type entryRow struct {
	ID, FirstSeenAt, UpdatedAt, Content, Version, Weak                                    int64
	Job, Sends, Key, KeyParts, State, Cause, Flags, WaitingFor, Warnings, Cells, NowCells string
	Acknowledged, AckCells, MappedWith, Target, ContractID, Amount, Unit                  string
	Error, Payload, Dismissal                                                             sql.NullString
	Generation, Attempts, GoneSweeps                                                      int
	NextAttemptAt, ReducedAt, RecordID, Volume                                            sql.NullInt64
	ResentBy                                                                              sql.NullInt64 `db:"resend_audit_id"`
	SourceHash, PayloadHash, Another                                                      trade.Hash
	shownRow
}

// shownRow is what is shown to people of an entry.
type shownRow struct {
	Shown, Facts string
	ShownMark    int64
}

var entryColumns = sqldb.Columns[entryRow]()

// newColumns are the columns of a new entry; the database assigns its id.
var newColumns = entryColumns[1:]

// updateColumns are the columns that an update may change, and the id that finds the entry.
var updateColumns = slices.DeleteFunc(slices.Clone(entryColumns), func(c string) bool {
	return slices.Contains([]string{"job", "sends", "key", "first_seen_at"}, c)
})

// readRow is a row of the table entry, with what its record says.
type readRow struct {
	entryRow
	OwnID, GivenID sql.NullString // of the record that is its own, or another's now
	DecidedBy      sql.NullInt64
}

// selectEntry selects whole entries.
var selectEntry = `SELECT ` + prefixed("e", entryColumns) + `, ` + recordIDs + `, r.decided_by FROM entry e ` + joinRecord

// recordIDs are the platform's id that an entry has, and the one that it gave away; joinRecord joins
// the record on which it rests.
const (
	recordIDs = `CASE WHEN r.entry_id = e.id THEN r.remote_id END AS own_id, CASE WHEN r.entry_id <> e.id THEN r.remote_id END AS given_id`

	joinRecord = `LEFT JOIN sent r ON r.id = e.record_id `
)

func prefixed(table string, columns []string) string {
	return table + "." + strings.Join(columns, ", "+table+".")
}

// Args returns the values of all columns.
func (r *entryRow) Args() []any { return sqldb.Pick(r, entryColumns) }

// entryRowOf returns the row of an entry. Required times that are zero become now.
func entryRowOf(e trade.Entry, now time.Time) (*entryRow, error) {
	r := &entryRow{
		ID: e.ID, Job: e.Job, Sends: string(e.Sends), Key: e.Key, State: string(e.State), Cause: e.Cause,
		RecordID:   numberOrNull(e.RecordID),
		Generation: max(e.Generation, 1), Attempts: e.Attempts, NextAttemptAt: sqldb.Millis(e.NextAttemptAt),
		FirstSeenAt: sqldb.AtOr(e.FirstSeenAt, now), UpdatedAt: sqldb.AtOr(e.UpdatedAt, now), SourceHash: e.SourceHash,
		MappedWith: e.MappedWith, Target: e.Target, ContractID: contractOf(e),
		Payload: textOrNull(string(e.Payload)), PayloadHash: e.PayloadHash, Content: e.Content,
		Amount: e.Quantity.Amount.String(), Unit: string(e.Quantity.Unit), Volume: volumeOf(e.Quantity.Amount),
		GoneSweeps: e.GoneSweeps, Version: max(e.Version, 1), Another: e.Another, ResentBy: numberOrNull(e.ResentBy),
		shownRow: shownRow{ShownMark: e.Shown.Mark},
	}
	var err error
	keep := func(v any) string {
		text, jsonErr := json.Marshal(v)
		if jsonErr != nil {
			err = phrase.Errorf("entry %s: %w", e.Job, jsonErr)
		}
		return string(text)
	}
	for _, part := range []struct {
		text *string
		list any
		n    int
	}{
		{&r.KeyParts, e.KeyParts, len(e.KeyParts)},
		{&r.Flags, e.Flags, len(e.Flags)},
		{&r.WaitingFor, e.WaitingFor, len(e.WaitingFor)},
		{&r.Warnings, e.Warnings, len(e.Warnings)},
		{&r.Acknowledged, e.Acknowledged, len(e.Acknowledged)},
	} {
		*part.text = "[]"
		if part.n > 0 {
			*part.text = keep(part.list)
		}
	}
	object := func(v any, some bool) string {
		if !some {
			return "{}"
		}
		return keep(v)
	}
	r.Cells, r.NowCells = object(e.Values, len(e.Values) > 0), object(e.Now, len(e.Now) > 0)
	r.AckCells = object(e.AckValues, len(e.AckValues) > 0)
	if len(e.Payload) == 0 && e.Values.Marked() && e.Now.Marked() && e.AckValues.Marked() {
		r.ReducedAt = sqldb.Millis(e.ReducedAt) // otherwise the entry has contents again
	}
	if r.ReducedAt.Valid {
		e.Shown.Texts, e.Facts = nil, trade.Facts{}
	}
	r.Shown, r.Facts = object(e.Shown, len(e.Shown.Texts) > 0), object(e.Facts, !e.Facts.IsZero())
	if e.Error != nil {
		r.Error = textOrNull(keep(e.Error))
		r.Weak = weakOf(e.Error)
	}
	if e.Dismissal != nil && e.State == trade.Dismissed {
		r.Dismissal = textOrNull(keep(e.Dismissal))
	}
	return r, err
}

// Entry returns the entry of a row. If a JSON text cannot be read, the error names its column.
func (r *entryRow) Entry() (trade.Entry, error) {
	e := trade.Entry{
		ID: r.ID, Job: r.Job, Sends: trade.Kind(r.Sends), Key: r.Key, State: trade.State(r.State), Cause: r.Cause,
		RecordID:   r.RecordID.Int64,
		Generation: r.Generation, Attempts: r.Attempts, NextAttemptAt: sqldb.Instant(r.NextAttemptAt),
		FirstSeenAt: time.UnixMilli(r.FirstSeenAt).UTC(), UpdatedAt: time.UnixMilli(r.UpdatedAt).UTC(),
		SourceHash: r.SourceHash, MappedWith: r.MappedWith, Target: r.Target,
		PayloadHash: r.PayloadHash, Content: r.Content, GoneSweeps: r.GoneSweeps, Version: r.Version,
		Another: r.Another, ReducedAt: sqldb.Instant(r.ReducedAt),
		DecidedBy: trade.DecidedBy{ResentBy: r.ResentBy.Int64},
		Shown:     trade.Shown{Mark: r.ShownMark},
	}
	if r.Payload.Valid {
		e.Payload = json.RawMessage(r.Payload.String)
	}
	var err error
	e.Quantity, err = quantityOf(r.Amount, r.Unit)
	if err != nil {
		return e, phrase.Errorf("entry %d is damaged: %w", r.ID, err)
	}
	if r.Error.Valid {
		e.Error = &trade.EntryError{}
	}
	if r.Dismissal.Valid && r.State == string(trade.Dismissed) {
		e.Dismissal = &trade.Dismissal{}
	} else {
		r.Dismissal.String = ""
	}
	return e, decodeColumns(r.ID, []jsonColumn{
		{"key_parts", r.KeyParts, &e.KeyParts, "[]"},
		{"flags", r.Flags, &e.Flags, "[]"},
		{"waiting_for", r.WaitingFor, &e.WaitingFor, "[]"},
		{"warnings", r.Warnings, &e.Warnings, "[]"},
		{"cells", r.Cells, &e.Values, "{}"},
		{"now_cells", r.NowCells, &e.Now, "{}"},
		{"acknowledged", r.Acknowledged, &e.Acknowledged, "[]"},
		{"ack_cells", r.AckCells, &e.AckValues, "{}"},
		{"shown", r.Shown, &e.Shown, "{}"},
		{"facts", r.Facts, &e.Facts, "{}"},
		{"error", r.Error.String, e.Error, ""},
		{"dismissal", r.Dismissal.String, e.Dismissal, ""},
	})
}

// fits reports whether the columns that queries ask for say what the entry says.
func (r *entryRow) fits(e trade.Entry) bool {
	return r.ContractID == contractOf(e) && r.Weak == weakOf(e.Error) && r.Volume == volumeOf(e.Quantity.Amount)
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

// jsonColumn is a column of an entry that holds JSON, where to put it, and its text if it is empty.
type jsonColumn struct {
	column, text string
	dest         any
	empty        string
}

func decodeColumns(entry int64, columns []jsonColumn) error {
	for _, c := range columns {
		if c.text == c.empty {
			continue
		}
		if err := json.Unmarshal([]byte(c.text), c.dest); err != nil {
			return phrase.Errorf("entry %d is damaged in column %s: restore the backup", entry, c.column)
		}
	}
	return nil
}

// Entry returns the entry of a row, with what its record says.
func (r *readRow) Entry() (trade.Entry, error) {
	e, err := r.entryRow.Entry()
	e.RemoteID, e.MovedID, e.RecordedBy = r.OwnID.String, r.GivenID.String, r.DecidedBy.Int64
	return e, err
}

func numberOrNull(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: n != 0} }

// quantityOf parses an amount, of one row or of many, and its unit.
func quantityOf(amount, unit string) (trade.Quantity, error) {
	n, err := trade.ParseSum(amount) // sums of many rows are allowed too
	return trade.Quantity{Amount: n, Unit: trade.Unit(unit)}, err
}

// listText returns the JSON text of a list; nil and empty lists have the same text.
func listText[T any](s []T) (string, error) {
	if len(s) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(s)
	return string(text), err
}

// notNil returns an empty list for a nil one, so that the JSON text has one form.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// isSettled is the condition of the indexes entry_body and entry_reduced. SQLite uses them only if
// a query has it in exactly these words. It is not an IN list, because SQLite would build a table
// of the list for each row that is written.
const isSettled = `(e.state = 'accepted' OR e.state = 'dismissed' OR e.state = 'withdrawn')`

// isStuck is the condition of the index entry_stuck. SQLite uses the index only if a query has it
// in exactly these words (see isSettled).
const isStuck = `(e.state = 'waiting' OR e.state = 'invalid' OR e.state = 'rejected' OR e.state = 'in_doubt' OR e.state = 'held')`

// flagsOf parses the column flags of an entry.
func flagsOf(text string) (trade.Flags, error) {
	if text == "[]" {
		return nil, nil
	}
	var flags trade.Flags
	if err := json.Unmarshal([]byte(text), &flags); err != nil {
		return nil, phrase.Errorf("an entry is damaged in column flags: restore the backup")
	}
	return flags, nil
}

// selectEntries returns the entries that match an SQL condition.
func (s *Store) selectEntries(ctx context.Context, op, where string, args ...any) ([]trade.Entry, error) {
	return sqldb.Rows(ctx, s.db, op, (*readRow).Entry, selectEntry+where, args...)
}

// Flags as they appear in the JSON text of an entry's flags, for searching.
var changedText, replacedText = `"` + string(trade.Changed) + `"`, `"` + string(trade.Replaced) + `"`

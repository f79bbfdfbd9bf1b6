// The queue: which entries are due, which are woken, and which records of the platform block rows.

package state

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// moveAll makes entries move, all of them in the same way. counted is added to their number of attempts.
// Entries that may not move, because they have moved already, stay.
func moveAll(t *sqldb.Tx, ids []int64, move func(*trade.Entry) bool, counted int, now time.Time) error {
	entries, err := lockEntries(t, ids)
	if err != nil {
		return err
	}
	var moved []*trade.Entry
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if may := moveEntry(entries[id], counted, now, move); may {
			moved = append(moved, entries[id])
		}
	}
	// All have made the same move, which leaves their flags.
	columns := slices.DeleteFunc(slices.Clone(stateColumns), func(c string) bool { return c == "id" || c == "version" })
	for chunk := range slices.Chunk(moved, sqldb.ArrayRows) {
		args := append(movedValues(chunk[0], columns), counted, sqldb.ListOf(t.S.D, trade.Map(chunk, idOf)))
		n, err := t.Changed(`UPDATE entry SET `+strings.Join(columns, ` = ?, `)+` = ?, attempts = attempts + ?,
			version = version + 1 WHERE `+t.S.D.Among("id"), args...)
		if err = sqldb.AllWritten("entry", n, len(chunk), err); err != nil {
			return err
		}
	}
	return nil
}

// Wake moves rejected and waiting entries whose NextAttemptAt has passed to pending. An entry
// without a payload cannot be sent and stays. It returns how many were moved.
func (s *Store) Wake(ctx context.Context, lease trade.Lease, now time.Time) (int, error) {
	const op = "waking entries whose time has come"
	// The first condition is that of the index entry_wake. The order is an expression, so that the
	// planner does not choose another index for it.
	query := `SELECT e.id FROM entry e WHERE e.next_attempt_at IS NOT NULL AND e.job = ? AND e.state IN ('rejected', 'waiting') AND e.next_attempt_at <= ?
		AND e.sendable = 1 ORDER BY e.id + 0`
	var due []int64 // write nothing if nothing is due, which is the case in most runs
	if err := s.db.All(ctx, op, &due, query+` LIMIT 1`, lease.Job, now.UnixMilli()); err != nil || len(due) == 0 {
		return 0, s.idle(ctx, op, lease, err)
	}
	return sqldb.Stored(ctx, s.db, op, func(t *sqldb.Tx) (int, error) {
		if err := fence(t, lease); err != nil {
			return 0, err
		}
		var ids []int64
		if err := t.All(&ids, t.S.D.Locked(query, "e"), lease.Job, now.UnixMilli()); err != nil || len(ids) == 0 {
			return 0, err
		}
		return len(ids), moveAll(t, ids, (*trade.Entry).Wake, 0, now)
	})
}

// WakeBlocked moves the entries that wait for a record of the platform to pending, because a row
// that needs the record was accepted. This concerns the entries of all jobs. An entry that also
// waits for something else keeps waiting for that. It returns how many were moved.
func (s *Store) WakeBlocked(ctx context.Context, lease trade.Lease, kind, id string) (int, error) {
	now := time.Now()
	return sqldb.Stored(ctx, s.db, "waking entries that waited for a record", func(t *sqldb.Tx) (int, error) {
		if err := fence(t, lease); err != nil {
			return 0, err
		}
		var rows []struct {
			ID         int64
			WaitingFor []trade.Awaited
			Ready      bool
		}
		// The pattern may match too many rows; waiting_for is parsed below.
		query := `SELECT e.id, e.waiting_for, e.sendable AS ready FROM entry e WHERE e.state = 'waiting' AND e.waiting_for LIKE ? ORDER BY e.id`
		if err := t.All(&rows, t.S.D.Locked(query, "e"), `%"platform":%`); err != nil {
			return 0, err
		}
		var woken []int64
		for _, r := range rows {
			rest := slices.DeleteFunc(slices.Clone(r.WaitingFor),
				func(a trade.Awaited) bool { return a.Platform == kind && a.ID == id })
			switch {
			case len(rest) == len(r.WaitingFor):
			case len(rest) == 0 && r.Ready:
				woken = append(woken, r.ID)
			default:
				text, err := json.Marshal(sqldb.NotNil(rest))
				if err != nil {
					return 0, err
				}
				if err := t.Do(`UPDATE entry SET waiting_for = ?, version = version + 1, updated_at = ? WHERE id = ?`,
					string(text), now.UnixMilli(), r.ID); err != nil {
					return 0, err
				}
			}
		}
		return len(woken), moveAll(t, woken, (*trade.Entry).Wake, 0, now)
	})
}

// Due returns pending entries that are due, with ids greater than after, in id order, at most
// limit.
func (s *Store) Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error) {
	const op = "looking for what is due"
	var rows []trade.Entry
	at, hourAgo := now.UnixMilli(), now.Add(-time.Hour).UnixMilli()
	err := s.db.AllHot(ctx, op, &rows, selectEntry+`WHERE `+isDue, job, after, at, hourAgo, at, limit)
	return rows, err
}

// DueKeys returns the keys of a job that a run would send, now or after waking them; those of keys, or all if
// keys is empty.
func (s *Store) DueKeys(ctx context.Context, job string, keys []string, now time.Time) ([]string, error) {
	query, args := `SELECT key FROM entry WHERE job = ? AND state IN ('pending', 'rejected', 'waiting') AND sendable = 1
		AND (next_attempt_at <= ? OR next_attempt_at IS NULL AND state = 'pending')`, []any{job, now.UnixMilli()}
	if len(keys) > 0 {
		query, args = query+` AND `+s.db.D.Among("key"), append(args, sqldb.ListOf(s.db.D, keys))
	}
	return sqldb.List[string](ctx, s.db, "looking for what is due", query, args...)
}

// isDue is the SQL condition, order and limit of what is due. A second
// sending of an order commitment waits, for at most an hour, until each event since the first one
// was looked at, and each record that one named was read back: it may be that of the first. The 5 s
// are how far the platform's clock may be behind; a record that was not there three times is none. The
// limit is an expression: for a plain parameter SQLite would prepare the statement anew each time.
const isDue = `e.job = ? AND e.state = 'pending' AND e.id > ? AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= ?)
	AND (e.generation = 1 OR e.sends <> 'order_commitments' OR e.updated_at <= ? OR NOT EXISTS (
		SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome = 'unknown' AND (
			EXISTS (SELECT 1 FROM inbox i WHERE i.next_at <= ? AND i.last_at >= a.started_at - 5000)
			OR EXISTS (SELECT 1 FROM candidate c WHERE c.last_at >= a.started_at - 5000 AND c.state = 'heard'
				AND c.purpose = 'doubt' AND NOT (c.status = 404 AND c.tries >= 3)))))
	ORDER BY e.id LIMIT ? + 0`

// selectBlock reads records that the platform does not know.
const selectBlock = `SELECT kind, id, message, first_at, next_at, tries FROM block `

// Blocks returns the records that rows wait for, ordered by kind and id.
func (s *Store) Blocks(ctx context.Context) ([]trade.Block, error) {
	return sqldb.List[trade.Block](ctx, s.db, "reading what rows wait for", selectBlock+`ORDER BY kind, id`)
}

// WakeFor makes records that the platform was found to lack due for another attempt in the next
// run: the records of these kinds with one of these ids, or all of the kinds if ids is nil. The
// number of tries is kept. It returns how many records it made due.
func (s *Store) WakeFor(ctx context.Context, kinds, ids []string, now time.Time) (int, error) {
	return sqldb.Stored(ctx, s.db, "waking what waits for the platform", func(t *sqldb.Tx) (n int, err error) {
		var rows []trade.Block
		if err := t.All(&rows, selectBlock+`WHERE `+t.S.D.Among("kind"), sqldb.ListOf(t.S.D, kinds)); err != nil {
			return 0, err
		}
		for _, r := range rows {
			due := !r.NextAt.IsZero() && !r.NextAt.After(now)
			// the id of a block may be that of a pair
			named := func(id string) bool { return slices.Contains(strings.Fields(r.ID), id) }
			if due || ids != nil && !slices.ContainsFunc(ids, named) {
				continue
			}
			if err := t.Do(`UPDATE block SET next_at = ? WHERE kind = ? AND id = ?`, now.UnixMilli(), r.Kind,
				r.ID); err != nil {
				return 0, err
			}
			n++
			// The rows that wait for the record, and those that were rejected because of it, are due in the
			// next run.
			for _, where := range []struct {
				condition string
				args      []any
			}{
				{`state = 'waiting' AND waiting_for LIKE ?`, []any{`%"platform":"` + r.Kind + `"%`}},
				{`state = 'rejected' AND cause <> '' AND cause = ?`, []any{r.Message}},
			} {
				condition, args := where.condition+` AND sendable = 1`, where.args
				for _, id := range strings.Fields(r.ID) {
					condition += ` AND EXISTS (SELECT 1 FROM body WHERE entry_id = entry.id AND (payload LIKE ? OR target = ?))`
					args = append(args, `%"`+id+`"%`, id)
				}
				query := `UPDATE entry SET next_attempt_at = ?, version = version + 1 WHERE (next_attempt_at IS NULL OR next_attempt_at > ?) AND ` + condition
				if err := t.Do(query, append([]any{now.UnixMilli(), now.UnixMilli()}, args...)...); err != nil {
					return 0, err
				}
			}
		}
		return n, nil
	})
}

package state

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// reducible is the SQL condition for an entry whose values, requests and answers are no longer
// needed: it is not to be sent, and not to be compared. Not reducible are rows that are open, in
// doubt or held; an accepted row whose difference to the ERP a person has yet to review; and a row
// that was dismissed while it was in doubt, held, or refused by an answer in no form of the API (a
// weak error), because reopening it needs what was sent.
const reducible = `(e.state = 'withdrawn' OR e.state = 'accepted' AND e.flags NOT LIKE '%"changed"%'
	OR e.state = 'dismissed' AND (e.dismissal LIKE '{"from":"pending"%' OR e.dismissal LIKE '{"from":"waiting"%'
		OR e.dismissal LIKE '{"from":"invalid"%'
		OR e.dismissal LIKE '{"from":"rejected"%') AND e.weak = 0
		AND NOT EXISTS (SELECT 1 FROM sent d WHERE d.origin = e.id AND d.outcome IN ('open', 'unknown')))`

const oldBodies = fromEntry + `WHERE e.reduced_at IS NULL AND ` + isSettled + ` AND e.updated_at < ?`

// oldBody is a finished row of the plan, and whether it loses its contents.
type oldBody struct {
	ID, Bytes int64
	At        int64 `db:"updated_at"`
	Goes      bool
}

// planPage is how many rows one statement of the plan reads. The first retention of a ledger of ten
// seasons has millions to count, and no statement may take that long.
const planPage = 2000

// countBodies reads the finished rows from the oldest on, as reduceBodies does.
func (r *retaining) countBodies(ctx context.Context, k *Retained) error {
	const op = "counting what is old of bodies"
	before, ok := r.before(r.Keep.Bodies)
	if !ok {
		return nil
	}
	k.Before = &before
	last := oldBody{At: int64(-1) << 62}
	query := `SELECT e.id, e.updated_at, LENGTH(COALESCE(b.payload, '')) + LENGTH(b.cells) + LENGTH(b.shown) + LENGTH(b.now_cells) + LENGTH(b.ack_cells) AS bytes, ` + reducible + ` AS goes ` +
		oldBodies + ` AND (e.updated_at, e.id) > (?, ?) ORDER BY e.updated_at, e.id LIMIT ?`
	for {
		var page []oldBody
		if err := r.db.All(ctx, op, &page, query, before.UnixMilli(), last.At, last.ID, planPage); err != nil {
			return err
		}
		var ids []int64
		for _, row := range page {
			last = row
			if !row.Goes {
				k.Kept++
				continue
			}
			k.Rows++
			k.Bytes += row.Bytes
			ids = append(ids, row.ID)
		}
		reading := func(dest any, query string, args ...any) error { return r.db.All(ctx, op, dest, query, args...) }
		of, err := attemptsOf(r.db.D, reading, ids)
		if err != nil {
			return err
		}
		var attempts int64
		if err := r.db.Get(ctx, op, &attempts,
			`SELECT COALESCE(SUM(LENGTH(x.payload) + LENGTH(COALESCE(x.evidence, '')) + LENGTH(COALESCE(x.request_head, ''))
			+ LENGTH(COALESCE(x.answer_head, '')) + LENGTH(x.answer_body)), 0) FROM exchange x WHERE `+r.db.D.Among("x.attempt"),
			of); err != nil {
			return err
		}
		k.Bytes += attempts
		if len(page) < planPage {
			return nil
		}
	}
}

// reduceBodies reduces the finished rows from the oldest on.
func (r *retaining) reduceBodies(ctx context.Context) error {
	before, ok := r.before(r.Keep.Bodies)
	if !ok {
		return nil
	}
	last := oldBody{At: int64(-1) << 62}
	return r.batches(ctx, "reducing old rows", func(t *sqldb.Tx) (int, error) {
		var rows []oldBody
		if err := t.All(&rows, `SELECT e.id, e.updated_at `+oldBodies+` AND (e.updated_at, e.id) > (?, ?) AND `+
			reducible+` ORDER BY e.updated_at, e.id LIMIT ?`,
			before.UnixMilli(), last.At, last.ID, retentionBatch); err != nil || len(rows) == 0 {
			return 0, err
		}
		ids := trade.Map(rows, func(row oldBody) int64 { return row.ID })
		if _, err := reduceEntries(t, ids, before, r.Now); err != nil {
			return 0, err
		}
		last = rows[len(rows)-1]
		return len(rows), nil
	})
}

// reduceEntries replaces the values of entries by their marks, and removes payloads, requests and
// answers, including those of their attempts. It checks each entry again under its lock: one that
// is no longer finished, or no longer old, stays as it is. It returns how many were reduced.
func reduceEntries(t *sqldb.Tx, ids []int64, before, now time.Time) (int, error) {
	if err := lockSendings(t, ids); err != nil {
		return 0, err
	}
	var rows []trade.Entry
	query := `SELECT e.id, e.job, e.sends, e.amount, e.unit, e.key, b.target, b.cells, b.now_cells, b.ack_cells, b.warnings, e.error, e.version ` +
		oldBodies + ` AND ` + reducible + ` AND ` + t.S.D.Among("e.id") + ` ORDER BY e.id`
	if err := t.All(&rows, t.S.D.Locked(query, "e, b"), before.UnixMilli(), sqldb.ListOf(t.S.D, ids)); err != nil ||
		len(rows) == 0 {
		return 0, err
	}
	updates, bodies := make([][]any, len(rows)), make([][]any, len(rows))
	reduced, listed := make([]int64, len(rows)), make([]trade.Entry, len(rows))
	for i := range rows {
		e := &rows[i]
		for _, values := range []*trade.Values{&e.Values, &e.Now, &e.AckValues} {
			if len(*values) > 0 {
				*values = values.Marks(e.Key)
			}
		}
		e.Warnings = withoutValues(e.Warnings)
		if e.Error != nil {
			e.Error.Fields = withoutValues(e.Error.Fields)
		}
		e.ReducedAt, e.Version = now, e.Version+1
		row := entryRow{Entry: *e, ContractID: contractOf(*e), EntryID: e.ID}
		reduced[i], updates[i], bodies[i] = e.ID, sqldb.Pick(&row, reducedColumns), sqldb.Pick(&row, reducedBody)
		listed[i] = trade.Entry{ID: e.ID, Job: e.Job, Key: e.Key, Quantity: e.Quantity, ReducedAt: now}
	}
	attempts, err := attemptsOf(t.S.D, t.All, reduced)
	if err == nil {
		err = t.Do(`DELETE FROM exchange WHERE `+t.S.D.Among("attempt"), attempts)
	}
	if err != nil {
		return 0, err
	}
	if err := t.UpdateRows("entry", reducedColumns, updates); err != nil {
		return 0, err
	}
	if err := t.UpdateRows("body", reducedBody, bodies); err != nil {
		return 0, err
	}
	return len(rows), writeListings(t, listed)
}

// attemptsOf returns the ids of the attempts of entries, as an argument of Among: PostgreSQL would go
// through all exchanges for those of a query.
func attemptsOf(d sqldb.Dialect, all sqldb.Select, entries []int64) (any, error) {
	ids := []string{}
	err := all(&ids, `SELECT attempt FROM attempt WHERE `+d.Among("origin"), sqldb.ListOf(d, entries))
	return sqldb.ListOf(d, ids), err
}

// The columns that a reduction writes.
var (
	reducedColumns = []string{"id", "sendable", "contract_id", "error", "reduced_at", "version"}
	reducedBody    = []string{"entry_id", "payload", "shown", "facts", "cells", "now_cells", "ack_cells", "warnings"}
)

// withoutValues removes the ERP's values from problems.
func withoutValues(problems []trade.Problem) []trade.Problem {
	for i := range problems {
		problems[i].Value = ""
	}
	return sqldb.NotNil(problems)
}

// Erase reduces rows, whatever their age, as retention would do later. It also removes the answers
// to lookups by document that returned one of the platform ids, the labels of producers with one,
// and the events and records that contain one. What is still needed stays: see
// reducible. It returns how many rows were reduced. The act is in the audit before the first row is reduced.
func (s *Store) Erase(ctx context.Context, ids []int64, remoteIDs []string,
	now time.Time, record trade.AuditRecord,
) (rows int, err error) {
	if err := s.announce(ctx, record, now, 0); err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(ids, retentionBatch) {
		n := 0
		if err := s.db.InTx(ctx, "erasing what is held of rows", func(t *sqldb.Tx) (err error) {
			n, err = reduceEntries(t, chunk, now.Add(100*365*24*time.Hour), now)
			return err
		}); err != nil {
			return rows, err
		}
		rows += n
	}
	if err := s.db.InTx(ctx, "erasing lookups", func(t *sqldb.Tx) error {
		// Including the events that contain the id, and records that were read back because of one.
		for _, id := range remoteIDs {
			if err := errors.Join(
				t.Do(`DELETE FROM lookup WHERE id = ?`, id),
				t.Do(`UPDATE reference SET label = '' WHERE kind = 'producers' AND id = ?`, id),
				t.Do(`DELETE FROM inbox WHERE next_at IS NULL AND LOWER(body) LIKE ?`, "%"+id+"%"),
				t.Do(`DELETE FROM candidate WHERE fields LIKE ?`, "%"+id+"%")); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return rows, err
	}
	return rows, s.db.EmptyLog(ctx)
}

// Erasable returns which of these rows Erase would reduce.
func (s *Store) Erasable(ctx context.Context, ids []int64) (map[int64]bool, error) {
	out := map[int64]bool{}
	var some []int64
	err := s.db.All(ctx, "looking for what may be erased", &some,
		`SELECT e.id FROM entry e WHERE e.reduced_at IS NULL AND `+isSettled+` AND `+reducible+` AND `+
			s.db.D.Among("e.id"), sqldb.ListOf(s.db.D, ids))
	for _, id := range some {
		out[id] = true
	}
	return out, err
}

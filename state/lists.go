package state

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Rows calls fn for the entries that match a query, by job and id; for all if its limit is 0. The query may
// narrow by what the entries themselves have, not by facts. It reads page by page: fn may write, and an
// entry that changes meanwhile may be seen before or after its change. The states of the parents of
// waiting entries are the present ones. It stops at the first error of fn.
func (s *Store) Rows(ctx context.Context, q trade.RowQuery, fn func(trade.Entry) error) (err error) {
	jobs := q.Jobs
	// within one job an index finds the start of a page, and most of what a query selects
	if len(jobs) == 0 {
		jobs, err = s.Jobs(ctx)
		if err != nil {
			return err
		}
	}
	left := q.Limit
	for _, job := range jobs {
		q.Jobs, q.Limit = []string{job}, left
		given, err := s.rowsOf(ctx, q, fn)
		if err != nil {
			return err
		}
		left -= given
		if left == 0 && given > 0 {
			return nil
		}
	}
	return nil
}

const listingRows = "reading rows"

// rowsOf is Rows within one job. It returns how many entries it passed to fn.
func (s *Store) rowsOf(ctx context.Context, q trade.RowQuery, fn func(trade.Entry) error) (given int, err error) {
	whole, err := s.clauseOf(ctx, q)
	if err != nil {
		return 0, err
	}
	whole.entry = true
	parts := []*clause{whole}
	// Each of several states is queried separately, because an index has each in id order.
	if q.Key == "" && len(q.Causes)+len(q.Flags) == 0 && len(q.States) > 1 {
		parts = nil
		for _, state := range q.States {
			part := q
			part.States = []trade.State{state}
			c, err := s.clauseOf(ctx, part)
			if err != nil {
				return 0, err
			}
			parts = append(parts, c)
		}
	}
	for after := int64(0); ; {
		limit := entryPage
		if q.Limit > 0 {
			limit = min(limit, q.Limit-given)
		}
		// First the ids, from an index, then the contents.
		var ids []int64
		for _, c := range parts {
			c.entry = true
			var some []int64
			if err := s.db.All(ctx, listingRows, &some,
				c.resolve(`SELECT e.id `+c.from()+` AND e.id > ? ORDER BY e.id LIMIT ?`),
				append(slices.Clone(c.args), after, limit)...); err != nil {
				return given, err
			}
			ids = append(ids, some...)
		}
		slices.Sort(ids)
		ids = slices.Compact(ids) // a row that changed its state in between
		ids = ids[:min(len(ids), limit)]
		if len(ids) == 0 {
			return given, nil
		}
		after = ids[len(ids)-1]
		page, err := s.selectEntries(ctx, listingRows,
			whole.resolve(whole.condition()+` AND `+s.db.D.Among("e.id")+` ORDER BY e.id`),
			append(slices.Clone(whole.args), sqldb.ListOf(s.db.D, ids))...)
		if err != nil {
			return given, err
		}
		if err := s.fillParentStates(ctx, page); err != nil {
			return given, err
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return given, err
			}
			given++
		}
		if len(ids) < limit || q.Limit > 0 && given >= q.Limit {
			return given, nil
		}
	}
}

// Keyed returns the entries of a job that have one of some keys, in no order.
func (s *Store) Keyed(ctx context.Context, job string, keys []string) (out []trade.Entry, err error) {
	for some := range slices.Chunk(keys, entryPage) {
		page, err := s.selectEntries(ctx, listingRows, `WHERE e.job = ? AND `+s.db.D.Among("e.key"), job,
			sqldb.ListOf(s.db.D, some))
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
	}
	return out, s.fillParentStates(ctx, out)
}

// Entry returns one entry by job and key, or ErrNotFound.
func (s *Store) Entry(ctx context.Context, job, key string) (trade.Entry, error) {
	found, err := s.selectEntries(ctx, "reading a row", `WHERE e.job = ? AND e.key = ?`, job, key)
	if err != nil {
		return trade.Entry{}, err
	}
	if len(found) == 0 {
		return trade.Entry{}, phrase.Errorf("job %s: %w", job, sqldb.ErrNotFound)
	}
	return found[0], s.fillParentStates(ctx, found)
}

// EntryByID returns one entry by its id, or ErrNotFound.
func (s *Store) EntryByID(ctx context.Context, id int64) (trade.Entry, error) {
	found, err := s.Entries(ctx, []int64{id})
	if err != nil {
		return trade.Entry{}, err
	}
	if len(found) == 0 {
		return trade.Entry{}, phrase.Errorf("row number %d: %w", id, sqldb.ErrNotFound)
	}
	return found[0], s.fillParentStates(ctx, found)
}

// Stuck returns the id and the version of every row of a job that waits for something or needs a
// person, in id order. That is enough to find what has changed since an earlier call, and is read
// from an index alone.
func (s *Store) Stuck(ctx context.Context, job string) (out []trade.RowVersion, err error) {
	err = s.db.All(ctx, "looking for rows that wait", &out,
		`SELECT id, version FROM entry e WHERE job = ? AND `+isStuck+` ORDER BY id`, job)
	return out, err
}

// Dependents returns at most limit rows that depend on a row: those that wait for it, and after
// them those that were sent, or will be sent, with its id. It does not find deliveries that
// retention has reduced, because their contract is no longer stored.
func (s *Store) Dependents(ctx context.Context, e trade.Entry, limit int) ([]trade.Entry, error) {
	out, err := s.waitingFor(ctx, e, limit)
	if err != nil || e.RemoteID == "" || e.Sends != trade.OrderCommitments || len(out) == limit {
		return out, err
	}
	var ids []int64
	if err := s.db.All(ctx, "reading what hangs on a row", &ids,
		`SELECT id FROM entry WHERE contract_id <> '' AND contract_id = ? ORDER BY id LIMIT ?`, e.RemoteID,
		limit); err != nil {
		return nil, err
	}
	sent, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sent, func(a, b trade.Entry) int { return cmp.Compare(a.ID, b.ID) })
	for _, d := range sent {
		if len(out) < limit && d.State != trade.Waiting {
			out = append(out, d)
		}
	}
	return out, nil
}

// waitingFor returns at most limit rows that wait for a row, in id order.
func (s *Store) waitingFor(ctx context.Context, parent trade.Entry, limit int) ([]trade.Entry, error) {
	const op = "reading what waits for a row"
	name, err := json.Marshal(parent.Key)
	if err != nil {
		return nil, phrase.Errorf("%w: %w", phrase.Fixed(op), err)
	}
	var ids []int64
	// waiting_for has the keys as JSON strings. Only rows that wait are searched.
	query := `SELECT e.id FROM entry e WHERE e.state = 'waiting' AND ` + s.db.D.Within +
		`(e.waiting_for, ?) > 0 ORDER BY e.id LIMIT ?`
	if err := s.db.All(ctx, op, &ids, query, `"key":`+string(name), limit+dependentsMore); err != nil {
		return nil, err
	}
	entries, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []trade.Entry
	for _, e := range entries {
		for _, a := range e.WaitingFor {
			if a.Job == parent.Job && a.Key == parent.Key && len(out) < limit {
				out = append(out, e)
				break
			}
		}
	}
	return out, s.fillParentStates(ctx, out)
}

// dependentsMore is how many more rows are read, because another job may have a row with the same
// key.
const dependentsMore = 100

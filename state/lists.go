package state

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Rows calls fn for the entries that match the filter, by job and id. It reads page by page: fn may
// write, and an entry that changes meanwhile may be seen before or after its change. The states of
// the parents of waiting entries are the present ones. It stops at the first error of fn.
func (s *Store) Rows(ctx context.Context, filter trade.RowFilter, fn func(trade.Entry) error) error {
	jobs := []string{filter.Job}
	// within one job an index finds the start of a page, and most of what a filter selects
	if filter.Job == "" {
		var err error
		jobs, err = s.Jobs(ctx)
		if err != nil {
			return err
		}
	}
	left := filter.Limit
	for _, job := range jobs {
		filter.Job, filter.Limit = job, left
		given, err := s.rowsOf(ctx, filter, fn)
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
func (s *Store) rowsOf(ctx context.Context, filter trade.RowFilter,
	fn func(trade.Entry) error,
) (given int, err error) {
	b := conditions(filter)
	for after := int64(0); ; {
		limit := entryPage
		if filter.Limit > 0 {
			limit = min(limit, filter.Limit-given)
		}
		// First the ids, from an index, then the contents.
		ids, err := s.pageOf(ctx, filter, after, limit)
		if err != nil {
			return given, err
		}
		if len(ids) == 0 {
			return given, nil
		}
		after = ids[len(ids)-1]
		page, err := s.selectEntries(ctx, listingRows, b.condition()+` AND `+s.db.D.Among("e.id")+` ORDER BY e.id`,
			append(slices.Clone(b.args), sqldb.ListOf(s.db.D, ids))...)
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
		if len(ids) < limit || filter.Limit > 0 && given >= filter.Limit {
			return given, nil
		}
	}
}

// pageOf returns the ids of the next rows of a filter, which names one job. Each of several states is
// queried separately, because an index has each in id order.
func (s *Store) pageOf(ctx context.Context, filter trade.RowFilter, after int64, limit int) (ids []int64, err error) {
	parts := []trade.RowFilter{filter}
	if filter.Key == "" && len(filter.Causes)+len(filter.Flags) == 0 && len(filter.States) > 1 {
		parts = parts[:0]
		for _, state := range filter.States {
			part := filter
			part.States = []trade.State{state}
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		b := conditions(part)
		var some []int64
		if err := s.db.All(ctx, listingRows, &some,
			`SELECT e.id FROM entry e `+b.condition()+` AND e.id > ? ORDER BY e.id LIMIT ?`,
			append(b.args, after, limit)...); err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids) // a row that changed its state in between
	return ids[:min(len(ids), limit)], nil
}

// conditions returns the WHERE clause of a filter, which names one job.
func conditions(f trade.RowFilter) *clause {
	b := &clause{}
	b.add(`e.job = ?`, f.Job)
	b.ofStates(f.States)
	if len(f.Causes) > 0 {
		b.add(`e.cause <> '' AND e.cause IN (`+sqldb.Placeholders(len(f.Causes))+`)`, sqldb.Anys(f.Causes)...)
	}
	b.ofFlags(f.Flags)
	if f.Key != "" {
		b.add(`e.key = ?`, f.Key)
	}
	if !f.Since.IsZero() {
		b.add(`e.updated_at >= ?`, f.Since.UnixMilli())
	}
	return b
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

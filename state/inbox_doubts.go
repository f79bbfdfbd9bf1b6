package state

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// doubtsMost limits how many rows are considered. An unknown attempt stays unknown for the life of
// the ledger, decided or not.
const doubtsMost = 5000

// Doubts returns the attempts of order commitments that may have created a record, and those in
// flight, with their entries. Decided ones are included, because a record may contradict the
// decision, or may belong to a decided row rather than to another one; of these it returns the
// newest, up to the limit.
func (s *Store) Doubts(ctx context.Context) ([]trade.Doubt, error) {
	return s.doubtRows(ctx, doubtsMost)
}

// doubtRows is like Doubts, for at most the given number of rows with an unknown attempt.
func (s *Store) doubtRows(ctx context.Context, most int) (out []trade.Doubt, err error) {
	const op = "reading the doubts"
	jobs, err := s.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	// First the rows with an unknown attempt: undecided rows first, then decided ones, both in the
	// order of the end of the last request, the latest first.
	var ids []int64
	if err := s.db.All(ctx, op, &ids, `SELECT e.id FROM sent a JOIN entry e ON e.id = a.origin WHERE a.outcome = 'unknown' AND e.sends = 'order_commitments'
		GROUP BY e.id ORDER BY e.state IN ('accepted', 'dismissed', 'withdrawn'), MAX(a.finished_at) DESC, e.id LIMIT ?`, most); err != nil {
		return nil, err
	}
	for _, job := range jobs {
		var sending []int64 // no limit here: the number of requests in flight is limited anyway
		if err := s.db.All(ctx, op, &sending,
			`SELECT e.id FROM entry e WHERE e.job = ? AND e.state = 'sending' AND e.sends = 'order_commitments'`,
			job); err != nil {
			return nil, err
		}
		ids = append(ids, sending...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	entries, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	attempts := map[int64][]trade.Attempt{}
	query := selectAttempt + `WHERE ` + s.db.D.Among("a.origin") + ` AND a.outcome IN ('open', 'unknown') ORDER BY a.origin, a.no`
	found, err := sqldb.List[trade.Attempt](ctx, s.db, op, query, sqldb.ListOf(s.db.D, ids))
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		attempts[a.EntryID] = append(attempts[a.EntryID], a)
	}
	for _, e := range entries {
		for _, a := range attempts[e.ID] {
			out = append(out, trade.Doubt{Entry: e, Attempt: a})
		}
	}
	return out, nil
}

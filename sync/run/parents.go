// What the ledger knows of parent rows.

package run

import (
	"context"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ParentsOf reads, in one query, the parents of rows with these values.
func (r *Run) ParentsOf(ctx context.Context, rows []trade.Values) (mapping.Parents, error) {
	return r.ParentsFor(ctx, r.Job, rows)
}

// ParentsFor is ParentsOf for rows of another job.
func (r *Run) ParentsFor(ctx context.Context, job *mapping.Job, rows []trade.Values) (mapping.Parents, error) {
	var keys []trade.ParentKey
	for _, values := range rows {
		keys = job.Mapping.ParentKeys(keys, mapping.ColumnsIn(values))
	}
	if len(keys) == 0 {
		return nil, nil
	}
	known, err := r.Ledger.Parents(ctx, keys)
	if err != nil || len(job.Mapping.SentBy) < 2 {
		return known, err
	}
	for _, name := range job.Mapping.SentBy {
		unread, err := r.NeverRead(ctx, name)
		if err != nil {
			return nil, err
		}
		if unread {
			known[trade.ParentKey{Job: name}] = trade.Parent{State: mapping.NeverRead}
		}
	}
	return known, nil
}

// NeverRead reports whether a configured job has no entries and was never read to the end, for
// example because a brake holds it or its ERP cannot be read.
func (r *Run) NeverRead(ctx context.Context, job string) (bool, error) {
	if r.Env.Configured(job) == nil {
		return false, nil
	}
	cursor, err := r.Ledger.Cursor(ctx, job)
	if err != nil || !cursor.SweptAt.IsZero() {
		return false, err
	}
	tallies, err := r.Ledger.Counts(ctx, job)
	return len(tallies) == 0, err
}

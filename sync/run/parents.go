// What the ledger knows of parent rows.

package run

import (
	"context"

	"go.uber.org/zap"

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
	for _, k := range keys { // one that only looks like the missing one is named
		if other := mapping.OtherAccents(k.Key); other != k.Key {
			keys = append(keys, trade.ParentKey{Job: k.Job, Key: other})
		}
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
	if r.Configured(job) == nil {
		return false, nil
	}
	cursor, err := r.Ledger.Cursor(ctx, job)
	if err != nil || !cursor.SweptAt.IsZero() {
		return false, err
	}
	tallies, err := r.Ledger.Counts(ctx, job)
	return len(tallies) == 0, err
}

// ParentKeeper is the part of the ledger that knows parent rows.
type ParentKeeper interface {
	Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error)
}

// Newest returns the fingerprints of the row of an entry that was sent, as it was read last.
func Newest(ctx context.Context, ledger ParentKeeper, job *mapping.Job, entry trade.Entry,
	refs mapping.Codes,
) (trade.Prints, error) {
	if entry.Now == nil || job == nil {
		return trade.Prints{Cells: entry.SourceHash}, nil
	}
	known, err := ledger.Parents(ctx, job.Mapping.ParentKeys(nil, mapping.ColumnsIn(entry.Now)))
	if err != nil {
		return trade.Prints{}, err
	}
	eval := mapping.Evaluator{Job: job, Refs: refs, Today: trade.DateOf(entry.UpdatedAt), Log: zap.NewNop()}
	would := eval.Would(trade.Entry{}, entry.Now, known)
	return trade.PrintsOf(job.Spec.Sends, entry.SourceHash, would.Target, would.Payload), nil
}

// Differences returns where rows of the ERP differ from what was sent, in the order of the entries, as
// [mapping.Differences] does, with the parents that the rows name now. job returns a job by its name;
// nil if the configuration no longer has it.
func Differences(ctx context.Context, ledger ParentKeeper, job func(name string) *mapping.Job,
	entries []trade.Entry, refs mapping.Codes,
) ([][]trade.Difference, error) {
	var keys []trade.ParentKey
	for _, e := range entries {
		if j := job(e.Job); j != nil && e.Now != nil {
			keys = append(keys, j.DifferenceParents(e)...)
		}
	}
	var known mapping.Parents
	if len(keys) > 0 {
		var err error
		known, err = ledger.Parents(ctx, keys)
		if err != nil {
			return nil, err
		}
	}
	out := make([][]trade.Difference, len(entries))
	for i, e := range entries {
		out[i] = mapping.Differences(job(e.Job), e, refs, known)
	}
	return out, nil
}

package office

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// RanRow is a row that a run sent or changed.
type RanRow struct {
	trade.Entry                // as it is now
	Attempt     *trade.Attempt // its last request in the run; nil: it sent none
}

// RanRows returns rows that a run sent, in the order of their requests, then rows that it changed and
// that nothing changed since, at most limit. more reports that there are further ones.
func (o *Office) RanRows(ctx context.Context, run trade.RunReport, limit int) (out []RanRow, more bool, err error) {
	attempts, err := o.store.RunAttempts(ctx, run, limit+1)
	if err != nil {
		return nil, false, err
	}
	var ids []int64
	last := map[int64]*trade.Attempt{}
	for i, a := range attempts {
		if last[a.EntryID] == nil {
			ids = append(ids, a.EntryID)
		}
		last[a.EntryID] = &attempts[i]
	}
	entries, err := o.store.Entries(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		if i := slices.IndexFunc(entries, func(e trade.Entry) bool { return e.ID == id }); i >= 0 {
			out = append(out, RanRow{entries[i], last[id]})
		}
	}
	if len(out) <= limit {
		page, err := o.store.RowPage(ctx, ChangedBy(run, limit+1))
		if err != nil {
			return nil, false, err
		}
		for _, e := range page.Rows {
			if last[e.ID] == nil {
				out = append(out, RanRow{Entry: e})
			}
		}
	}
	return out[:min(len(out), limit)], len(out) > limit, nil
}

// Left returns how many of the rows that a run changed need somebody, by state.
func (o *Office) Left(ctx context.Context, run trade.RunReport) (map[trade.State]int, error) {
	q := ChangedBy(run, ManyMost)
	q.Of.Group = trade.AnyCause
	q, _, err := o.Chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	out := map[trade.State]int{}
	for _, q.States = range [][]trade.State{{trade.InDoubt}, {trade.Held}, {trade.Rejected}, {trade.Invalid}, {trade.Waiting}} {
		keys, _, err := o.store.RowKeys(ctx, q)
		if err != nil {
			return nil, err
		}
		out[q.States[0]] = len(keys)
	}
	return out, nil
}

// ChangedBy selects the rows that a run changed and that nothing changed since.
func ChangedBy(run trade.RunReport, limit int) trade.RowQuery {
	ended := run.EndedAt
	if ended.IsZero() {
		ended = Now()
	}
	return trade.RowQuery{
		Jobs: []string{run.Job}, From: run.StartedAt.Truncate(time.Millisecond), Until: ended.Add(time.Millisecond),
		Limit: limit, Sort: trade.NewestFirst,
	}
}

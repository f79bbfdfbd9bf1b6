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

// Ran is what a run did: the first rows that it sent, those without a created record first, and rows that
// it changed and that nothing changed since.
type Ran struct {
	Rows []RanRow
	Sent map[trade.Outcome]int // all rows that it sent, by the outcome of the last request
	More bool                  // there are further ones
}

// Ran returns what a run did, with at most limit rows of those that it sent, and of the others.
func (o *Office) Ran(ctx context.Context, run trade.RunReport, limit int) (out Ran, err error) {
	attempts, of, err := o.store.RunAttempts(ctx, run, limit)
	if err != nil {
		return out, err
	}
	out.Sent = of
	sent := 0
	for _, n := range of {
		sent += n
	}
	var ids []int64
	last := map[int64]*trade.Attempt{}
	for i, a := range attempts {
		ids = append(ids, a.EntryID)
		last[a.EntryID] = &attempts[i]
	}
	entries, err := o.store.Entries(ctx, ids)
	if err != nil {
		return out, err
	}
	for _, id := range ids {
		if i := slices.IndexFunc(entries, func(e trade.Entry) bool { return e.ID == id }); i >= 0 {
			out.Rows = append(out.Rows, RanRow{entries[i], last[id]})
		}
	}
	changed := ChangedBy(run, limit)
	if sent > len(attempts) { // of so many the accepted ones were sent
		out.More, changed.States = true, slices.DeleteFunc(slices.Clone(trade.States),
			func(s trade.State) bool { return s == trade.Accepted })
	}
	page, err := o.store.RowPage(ctx, changed)
	for _, e := range page.Rows {
		if last[e.ID] == nil {
			out.Rows = append(out.Rows, RanRow{Entry: e})
		}
	}
	out.More = out.More || page.Next != ""
	return out, err
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
	for _, q.States = range [][]trade.State{
		{trade.InDoubt},
		{trade.Held},
		{trade.Rejected},
		{trade.Invalid},
		{trade.Waiting},
	} {
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
		ended = trade.End{Time: Now()}
	}
	return trade.RowQuery{
		Jobs: []string{run.Job}, From: run.StartedAt.Truncate(time.Millisecond), Until: ended.Add(time.Millisecond),
		Limit: limit, Sort: trade.NewestFirst,
	}
}

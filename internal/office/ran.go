package office

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// RunPart is the rows with which a run did the same.
type RunPart struct {
	Result trade.RunResult
	trade.Figure
}

// RunParts returns what a run did with the rows that it sent or changed.
func (o *Office) RunParts(ctx context.Context, run trade.RunReport) ([]RunPart, error) {
	rows, err := o.store.RunRows(ctx, run)
	if err != nil {
		return nil, err
	}
	var out []RunPart
	for _, result := range trade.RunResults {
		if len(rows[result]) == 0 {
			continue
		}
		of := trade.RowQuery{Jobs: []string{run.Job}, Of: trade.Selection{Run: run.ID + ":" + string(result)}}
		chosen := of
		chosen.IDs = rows[result]
		sums, err := o.store.RowSums(ctx, chosen, true)
		if err != nil {
			return nil, err
		}
		out = append(out, RunPart{result, trade.Figure{Sums: sums[run.Job], Of: of}})
	}
	return out, nil
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

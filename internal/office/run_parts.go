package office

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// RunPart is the rows with which a run did the same.
type RunPart struct {
	Result trade.RunResult
	trade.Figure
}

// RunParts returns what a run did with the rows that it sent or changed; the queries have their ids.
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
		of := trade.RowQuery{Jobs: []string{run.Job}, IDs: rows[result]}
		of.Of.Run = run.ID + ":" + string(result)
		sums, err := o.store.RowSums(ctx, of, true)
		if err != nil {
			return nil, err
		}
		out = append(out, RunPart{result, trade.Figure{Sums: sums[run.Job], Of: of}})
	}
	return out, nil
}

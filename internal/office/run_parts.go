package office

import (
	"cmp"
	"context"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// RunPart is the rows with which a run did the same.
type RunPart struct {
	Result trade.RunResult
	trade.Figure
}

// RunCauses returns the causes of the rows of a part.
func (o *Office) RunCauses(ctx context.Context, part RunPart) (out []trade.Figure, err error) {
	causes, err := o.store.Causes(ctx, part.Of.Jobs)
	for _, cause := range causes {
		of := part.Of
		of.Causes = []string{cause}
		var sums map[string]trade.Sums
		sums, err = o.store.RowSums(ctx, of, true)
		if err != nil {
			return nil, err
		}
		if sums[of.Jobs[0]].Rows > 0 {
			out = append(out, trade.Figure{Sums: sums[of.Jobs[0]], Of: of})
		}
	}
	slices.SortStableFunc(out, func(a, b trade.Figure) int { return cmp.Compare(b.Rows, a.Rows) })
	return out, err
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

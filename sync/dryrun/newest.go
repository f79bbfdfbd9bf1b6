// The row of an entry as it is in the ERP now.

package dryrun

import (
	"context"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Newest maps and checks the row of an entry as it is in the ERP now, and returns the entry that it
// would be: pending, waiting or invalid. The error is run.ErrGone, run.ErrCancelled, run.ErrDouble,
// or why the ERP could not be read. It stores and sends nothing.
func (e *Rehearsal) Newest(ctx context.Context, jobName string, entry trade.Entry) (trade.Entry, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return entry, err
	}
	r := e.reader(job)
	if err := r.LoadReferences(ctx); err != nil {
		return entry, err
	}
	found, err := r.ReadAgain(ctx, job, []trade.Entry{entry})
	if err != nil {
		return entry, err
	}
	rows := found[entry.Key]
	c := mapping.Choose(rows)
	switch {
	case len(rows) == 0:
		return entry, run.ErrGone
	case c.Cancelled():
		return entry, run.ErrCancelled
	case c.Row == nil:
		return entry, run.ErrDouble
	}
	known, err := r.ParentsOf(ctx, []trade.Values{c.Row.Values()})
	if err != nil {
		return entry, err
	}
	would := entry.As("")
	r.Eval.EvaluateRow(&would, c.Row, known)
	would.GoneSweeps, would.Now, would.AckValues = 0, nil, nil
	return would, nil
}

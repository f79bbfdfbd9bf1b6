// The row of an entry as it is in the ERP now.

package rehearse

import (
	"context"

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
	found, err := r.Run.ReadAgain(ctx, job, []trade.Entry{entry})
	if err != nil {
		return entry, err
	}
	rows := run.ByKeyOf(r.Run.Job, found)[entry.Key]
	c := job.Choose(rows)
	switch {
	case len(rows) == 0:
		return entry, run.ErrGone
	case c.Cancelled():
		return entry, run.ErrCancelled
	case c.Row == nil:
		return entry, run.ErrDouble
	}
	values := job.Values(c.Row.Get)
	known, err := r.Run.ParentsOf(ctx, []trade.Values{values})
	if err != nil {
		return entry, err
	}
	entry = r.Run.Eval.Would(entry, values, known)
	entry.Shown = job.Shown(entry.Key, c.Row.Get)
	entry.SourceHash, entry.GoneSweeps, entry.Now, entry.AckValues = job.SourceHash(c.Row.Get), 0, nil, nil
	return entry, nil
}

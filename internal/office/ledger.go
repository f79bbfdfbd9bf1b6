package office

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// LiveStatus is a ledger that never reports a job as running if its process is gone.
type LiveStatus struct{ *state.Store }

// JobStatus returns the status of a job, corrected as Abandoned does.
func (t LiveStatus) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	status, err := t.Store.JobStatus(ctx, job)
	if err != nil {
		return status, err
	}
	return Abandoned(ctx, t.Store, status)
}

// Abandoned corrects the status of a job that is stored as running although its process is gone:
// the process had no time to store its end.
func Abandoned(ctx context.Context, store *state.Store, status trade.JobStatus) (trade.JobStatus, error) {
	if status.State != trade.Running {
		return status, nil
	}
	leases, err := store.Leases(ctx)
	if err != nil || slices.ContainsFunc(leases, func(l trade.Holder) bool { return l.Job == status.Job && !l.Dead }) {
		return status, err
	}
	status.State = trade.Stopped
	status.Stop = &trade.Stop{
		Code: "process_gone",
		Text: "the process that ran the job is gone; the next run finds out what became of the rows that were in flight, and goes on",
	}
	return status, nil
}

// The end of a run: its report, and whether it adds up (I9).

package sync

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// end makes and stores the report of a run, however it ended, and the job's new status. A job that
// did not begin is paused, an earlier job met a fault that it would meet too, or a signal came; after
// a signal its status is left unchanged.
func (r *jobPass) end(ctx context.Context) trade.RunReport {
	ctx = context.WithoutCancel(ctx)
	if r.Report.ID == "" { // it did not begin
		r.CountStates(ctx)
		if r.stopped != nil {
			r.stopped(r)
		}
		if !r.pausedBefore && r.Report.Stopped.Code != string(outcome.StopInterrupt) {
			r.setStatus(ctx, trade.JobStatus{
				Job: r.Job.Name(), State: trade.Stopped, Stop: r.Report.Stopped,
				Since: r.Clock.Now(),
			})
		}
		return r.Report
	}
	if r.err != nil {
		stop := run.StopOf(r.err)
		r.Report.Stopped = &stop
		r.Log.Warn("the job stopped", zap.String("code", stop.Code), zap.Stringer("reason", stop.Sentence()))
	}
	r.watch(ctx)
	r.CountStates(ctx)
	rows := r.ration.Rows
	r.Report.SentRows = &rows
	if r.Report.Stopped == nil && r.Report.InScope != nil {
		if err := r.verify(ctx); err != nil {
			stop := run.StopOf(err)
			r.Report.Stopped = &stop
		}
	}
	// What is left of a person's release is stored if the run stopped or only recorded; the state of the
	// canary (the first rows of a mapping) always. If that fails, or the process dies, nothing is left of
	// the release, and a person is asked once more.
	left := r.Brakes.Released != nil && (r.Report.Stopped != nil || r.send == nil)
	if r.Brakes.Trial != nil || left {
		cursor, err := r.Ledger.Cursor(ctx, r.Job.Name())
		if err == nil {
			if r.Brakes.Trial != nil {
				cursor.Brakes.Canary = r.Brakes.Trial
			}
			if left {
				rest := *r.Brakes.Released
				if r.send != nil {
					rest = rest.Less(r.send.Load.Went)
				}
				if rest.Rows > 0 {
					cursor.Brakes.Released = &rest
				}
			}
			err = r.Record(ctx, trade.Page{Cursor: &cursor})
		}
		if err != nil {
			r.Log.Warn("what the brakes remember was not stored; a person is asked once more", zap.Error(err))
		}
	}
	r.Report.EndedAt = trade.End{Time: r.Clock.Now()}
	if r.Report.Stopped != nil && r.stopped != nil {
		r.stopped(r)
	}
	if err := r.runs.FinishRun(ctx, r.Report); err != nil {
		r.Log.Error("the report of the run was not stored", zap.Error(err))
	}
	status := trade.JobStatus{Job: r.Job.Name(), State: trade.Idle, Since: r.Report.EndedAt.Time}
	if stop := r.Report.Stopped; stop != nil {
		status.Stop = stop
		switch code := outcome.StopCode(stop.Code); {
		case code == outcome.StopThrottled, code == outcome.StopUnreachable:
			status.State = trade.BackingOff
		case slices.Contains(outcome.Pausing, code):
			status.State = trade.Paused
		default:
			status.State = trade.Stopped
		}
	}
	r.setStatus(ctx, status) // a pause that came during the run stays
	// last: who is told looks at once for what was stored
	r.Observe(run.Progress{
		Job: r.Job.Name(), Phase: run.Done, Read: r.Report.Read,
		Done: r.Report.Sent, Total: r.Report.Sent,
	})
	return r.Report
}

// watch begins the quarantine of what has become in doubt (I14). If that fails, it begins later.
func (r *jobPass) watch(ctx context.Context) {
	if _, err := r.runs.Watch(ctx, r.Job.Name(), r.Owner.Boot, r.Clock.Boot()); err != nil {
		r.Log.Warn("the quarantine of what is in doubt begins later", zap.Error(err))
	}
}

// verify proves after a sweep that everything adds up (I9): the ERP's keys equal the entries that are not
// gone.
func (r *jobPass) verify(ctx context.Context) error {
	if !r.Keeper.Renew(ctx) { // another process may have found rows that this one has not seen
		return r.LeaseLost()
	}
	total := 0
	for _, n := range r.Report.States {
		total += n
	}
	if *r.Report.InScope != total-*r.Report.Gone {
		return r.Stop(outcome.StopUneven,
			trade.Say("stop.uneven.keys", "keys", *r.Report.InScope, "entries", total, "gone", *r.Report.Gone))
	}
	return nil
}

func (r *jobPass) setStatus(ctx context.Context, status trade.JobStatus) {
	if r.stopStays {
		return
	}
	if err := r.runs.SetJobStatus(ctx, status); err != nil {
		r.Log.Warn("the job's status was not stored", zap.Error(err))
	}
}

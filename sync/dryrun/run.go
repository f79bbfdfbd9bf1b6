// The dry run: discovery on a ledger that cannot write.

package dryrun

import (
	"context"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Asked are the parameters of a dry run.
type Asked struct {
	Sweep bool // compare everything, even if no sweep is due
	// Resync, if not nil, selects rows to be judged again even if they have not changed.
	Resync *discovery.Resync
	// Planned, if not nil, is called for each row that would be added or change, with the entry as
	// it would be then.
	Planned func(trade.Entry)
	// Progress, if not nil, is told the progress, in place of who observes the runs.
	Progress func(run.Progress)
}

// DryRun computes what jobs would do, parents first. Its ledger can only be read: it stores nothing
// and has nothing that could send.
func (e *Rehearsal) DryRun(ctx context.Context, jobs []*mapping.Job, asked Asked) []trade.RunReport {
	env := *e.env
	if asked.Progress != nil {
		env.Observe = asked.Progress
	}
	read := map[string]*run.DryLedger{} // the dry ledgers of the jobs, by name
	var runs []*run.Run
	var errs []error
	for _, job := range jobs {
		now, id := env.Clock.Now(), uuid.Must(uuid.NewV7()).String()
		dry := run.DryRun(e.ledger, job, now, read, asked.Planned)
		r := &run.Run{
			Env: &env, Job: job, Ledger: dry, Dry: dry, Source: e.source, Now: now,
			Report: trade.RunReport{ID: id, Job: job.Name(), StartedAt: now},
			Log:    e.log.With(zap.String("job", job.Name()), zap.String("run", id)),
		}
		d := discovery.New(r)
		err := e.ledger.Belongs(ctx, env.Owner.Platform)
		if err == nil {
			err = d.Discover(ctx, asked.Sweep, asked.Resync)
		}
		if err == nil {
			_, err = d.MapOrphans(ctx)
		}
		if err == nil {
			err = lookAhead(ctx, d)
		}
		runs, errs = append(runs, r), append(errs, err)
	}
	ctx = context.WithoutCancel(ctx)
	var reports []trade.RunReport
	for i, r := range runs {
		if errs[i] != nil {
			stop := run.StopOf(errs[i])
			r.Report.Stopped = &stop
			r.Log.Warn("the job stopped", zap.String("code", stop.Code), zap.Stringer("reason", stop.Sentence()))
		}
		r.CountStates(ctx)
		var err error
		r.Report.WouldSend, err = r.Dry.Would(ctx, r.Job.Name())
		if err != nil {
			r.Note(trade.Say("note.not_summed", "cause", err))
		}
		r.Report.EndedAt = trade.End{Time: r.Clock.Now()}
		r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Done, Read: r.Report.Read})
		reports = append(reports, r.Report)
	}
	return reports
}

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
	read := map[string]*run.DryLedger{} // the dry ledgers of the jobs, by name
	var reports []trade.RunReport
	var runs []*run.Run
	var errs []error
	for _, job := range jobs {
		r, err := e.dryRun(ctx, job, read, asked)
		runs, errs = append(runs, r), append(errs, err)
	}
	for i, r := range runs {
		reports = append(reports, concludeDry(ctx, r, errs[i]))
	}
	return reports
}

func (e *Rehearsal) dryRun(ctx context.Context, job *mapping.Job, read map[string]*run.DryLedger,
	asked Asked,
) (*run.Run, error) {
	now, id := e.env.Clock.Now(), uuid.Must(uuid.NewV7()).String()
	dry := run.DryRun(e.ledger, job, read, asked.Planned)
	env := e.env
	if asked.Progress != nil {
		apart := *e.env
		apart.Observe, env = asked.Progress, &apart
	}
	r := &run.Run{
		Env: env, Job: job, Ledger: dry, Dry: dry, Source: e.source, Now: now,
		Report: trade.RunReport{ID: id, Job: job.Name(), StartedAt: now},
		Log:    e.log.With(zap.String("job", job.Name()), zap.String("run", id)),
	}
	if err := e.ledger.Belongs(ctx, e.env.Owner.Platform); err != nil {
		return r, err
	}
	d := discovery.New(r)
	if err := d.Discover(ctx, asked.Sweep, asked.Resync); err != nil {
		return r, err
	}
	if _, err := d.MapOrphans(ctx); err != nil {
		return r, err
	}
	return r, lookAhead(ctx, d)
}

func concludeDry(ctx context.Context, r *run.Run, err error) trade.RunReport {
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		stop := run.StopOf(err)
		r.Report.Stopped = &stop
		r.Log.Warn("the job stopped", zap.String("code", stop.Code), zap.Stringer("reason", stop.Sentence()))
	}
	r.CountStates(ctx)
	r.Report.WouldSend, err = r.Dry.Would(ctx, r.Job.Name())
	if err != nil {
		r.Note(trade.Say("note.not_summed", "cause", err))
	}
	r.Report.EndedAt = trade.End{Time: r.Clock.Now()}
	r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Done, Read: r.Report.Read})
	return r.Report
}

// The dry run: discovery on a ledger that cannot write.

package dryrun

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
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

// Rehearsal computes what a run would do, but stores and sends nothing.
type Rehearsal struct {
	env    *run.Env
	ledger run.Readable
	source run.Source
	log    *zap.Logger
}

// New returns a rehearsal, which only reads the ledger.
func New(env *run.Env, ledger run.Readable, source run.Source, log *zap.Logger) *Rehearsal {
	return &Rehearsal{env: env, ledger: ledger, source: source, log: log}
}

// reader returns a discoverer that judges rows of a job as its next run would, on a ledger that
// cannot be written.
func (e *Rehearsal) reader(job *mapping.Job) *discovery.Discoverer {
	return discovery.New(&run.Run{
		Env: e.env, Job: job, Ledger: &run.DryLedger{Readable: e.ledger},
		Source: e.source, Now: e.env.Clock.Now(), Log: e.log,
	})
}

// goesAhead are rows that would be sent, by what they may be found by: their cells, and their
// identifying fields.
type goesAhead map[trade.Hash][]*run.DryRow

// of returns the others that may be like one of some rows.
func (g goesAhead) of(entries []trade.Entry) (out []*run.DryRow) {
	seen := map[int64]bool{}
	for _, e := range entries {
		seen[e.ID] = true
	}
	for _, e := range entries {
		p := sending.ContentOf(&e).Prints
		for _, other := range slices.Concat(g[p.Cells], g[p.Fields]) {
			if !seen[other.ID] {
				seen[other.ID] = true
				out = append(out, other)
			}
		}
	}
	return out
}

// lookAhead rechecks the rows that would be sent, so that a dry run does not promise what the run
// would hold. Rows of earlier readings are read again, as the run would do. Of those that this
// reading has just found, it reads only those that records or other rows may be like.
func lookAhead(ctx context.Context, d *discovery.Discoverer) error {
	ahead := goesAhead{}
	err := d.EachUnjudged(0, func(after int64) ([]trade.Entry, error) {
		return d.Ledger.Due(ctx, d.Job.Name(), d.Clock.Now(), after, sending.BatchSize)
	}, func(due []trade.Entry) error { return lookDry(ctx, d, due, ahead) })
	if err != nil {
		return err
	}
	ready := slices.DeleteFunc(d.Dry.Ready, // which nobody reads any more
		func(row *run.DryRow) bool { return row.State() != trade.Pending })
	for chunk := range slices.Chunk(ready, sending.BatchSize) {
		entries, err := d.Dry.Unpack(ctx, chunk)
		if err != nil {
			return err
		}
		near, err := d.Recheck.Near(ctx, entries)
		if err != nil {
			return err
		}
		var alike []trade.Entry
		for i, e := range entries {
			at := slices.IndexFunc(d.Jobs, func(job *mapping.Job) bool {
				other := d.Dry.Jobs[job.Name()]
				return job != d.Job && other != nil && job.Spec.Sends == d.Job.Spec.Sends &&
					job.Identity.Space == d.Job.Identity.Space && other.Goes(e.Key)
			})
			switch {
			case at >= 0: // of the rows that two jobs of this dry run would send under one key only one is sent
				sending.HoldOtherJob(&e, trade.Counterpart{Job: d.Jobs[at].Name(), Key: e.Key}, trade.Pending)
				err = d.Dry.HoldBack(ctx, e)
			case near[i] || chunk[i].Asked || d.Dry.Several(e.Newest) || len(ahead.of(entries[i:i+1])) > 0:
				alike = append(alike, e)
			}
			if err != nil {
				return err
			}
		}
		err = lookDry(ctx, d, alike, ahead)
		if err != nil {
			return err
		}
	}
	return nil
}

// lookDry rechecks rows as a run does before it stores their intents, and counts the results.
func lookDry(ctx context.Context, d *discovery.Discoverer, entries []trade.Entry, ahead goesAhead) error {
	if len(entries) == 0 {
		return nil
	}
	before, err := d.Dry.Unpack(ctx, ahead.of(entries))
	if err != nil {
		return err
	}
	result, err := d.Recheck.Recheck(ctx, entries, before, nil)
	if err != nil {
		return err
	}
	now := map[int64]trade.Entry{}
	for _, u := range result.Updates {
		now[u.Entry.ID] = u.Entry
	}
	others, err := d.Ledger.Entries(ctx, trade.Map(result.Twins, func(t trade.LikeRow) int64 { return t.OtherID }))
	if err != nil {
		return err
	}
	shown := map[int64]trade.Shown{}
	for _, e := range slices.Concat(others, entries, slices.Collect(maps.Values(now)), before) {
		shown[e.ID] = e.Shown
	}
	for _, t := range result.Twins {
		t.OtherShown = shown[t.OtherID]
		d.Report.Twins.Add(t)
	}
	d.Dry.ForgetParents()
	goes := map[int64]bool{}
	for _, e := range result.Ready {
		goes[e.ID] = true
		e.Newest = sending.ContentOf(&e).Prints
		row := run.PackRow(e)
		row.Shown = e.Shown.Texts
		for _, hash := range []trade.Hash{e.Newest.Cells, e.Newest.Fields} {
			ahead[hash] = append(ahead[hash], row)
		}
	}
	for _, old := range entries {
		entry, changed := now[old.ID]
		switch {
		case changed && entry.State != trade.Pending:
			err = d.Dry.HoldBack(ctx, entry)
		case !goes[old.ID]:
			err = d.Dry.Stay(ctx, old)
		case changed && old.ID > 0 && !d.Dry.Judged(old):
			_, err = d.Dry.Record(ctx, trade.Lease{},
				trade.Page{Updates: []trade.Update{{From: old.State, Entry: entry}}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The order of the steps of a reading, and what is decided at its end.

package discovery

import (
	"context"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// read is the first step of a run: it reads the ERP, in a window or as a sweep, and records what is
// new.
func (r *Discoverer) read(ctx context.Context, sweep bool, resync *Resync) error {
	cursor, err := r.Ledger.Cursor(ctx, r.Job.Name())
	if err != nil {
		return err
	}
	// whether a column is missing, or a brake holds the job
	columns, err := r.Source.Columns(ctx, r.Job.Spec.Query)
	if err != nil {
		return err
	}
	if err := r.Job.CheckColumns(columns); err != nil {
		return r.Stop(outcome.StopColumns, trade.Say("stop.columns.cause", "cause", err))
	}
	if err := r.Brakes.BrakeIdentity(ctx, cursor); err != nil {
		return err
	}
	if resync != nil && (!resync.Since.IsZero() || !resync.Until.IsZero() || resync.Keys != nil ||
		len(resync.States) > 0) { // else every row is asked for: the run is a sweep
		return r.resync(ctx, *resync, &cursor)
	}
	// Everything is compared if there is no change column, in a first run, with a changed query or mapping,
	// if a sweep is due, if the last one is in the future because the clock was wrong (F078), or after a
	// person's release that the ERP has become emptier.
	r.Report.Sweep = sweep || resync != nil || r.Job.Spec.ChangedAt == "" || cursor.SweptAt.IsZero() ||
		cursor.SweptAt.After(r.Now) || cursor.Fingerprint != r.Job.Fingerprint() ||
		cursor.Sweep != nil && cursor.Sweep.Released != nil || !r.Job.Sweep.Next(cursor.SweptAt).After(r.Now)
	p := newPager(r)
	p.judgeAll = resync != nil
	window := erp.Window{Since: cursor.Bound, Lookback: r.Job.Spec.Lookback, Whole: r.Report.Sweep}
	// with another query or mapping, rows that differ for that reason are not late
	if cursor.Fingerprint != r.Job.Fingerprint() {
		window.Since = ""
		if err := r.reprint(ctx); err != nil {
			return err
		}
	}
	if r.Report.Sweep {
		// All that the ledger knows of the job, to which the ERP is compared. Rows that came with a braked
		// sweep (with ids above Braked) are not expected to be found.
		sums, err := r.Ledger.Counts(ctx, r.Job.Name())
		if err != nil {
			return err
		}
		p.seen, p.notLiving, p.newest = newSeenKeys(trade.RowsIn(sums)), extraRows{}, 0
		err = r.Ledger.EachSwept(ctx, r.Job.Name(), func(k *trade.Known) {
			var notes uint8
			switch decideRow(k, k.SourceHash, r.Eval.MappedWith, false) {
			case same, leave:
				notes |= plain
			}
			if cursor.Sweep == nil || cursor.Sweep.Braked == 0 || k.ID <= cursor.Sweep.Braked {
				p.newest = max(p.newest, k.ID)
				if k.GoneSweeps == 0 && k.State != trade.Withdrawn {
					notes |= alive
				}
			}
			if k.State == trade.Sending || k.State == trade.Withdrawn || settledAbsence(k) {
				notes |= settled
			}
			p.seen.load(k, notes)
		})
		if err != nil {
			return err
		}
	}
	result, err := p.read(ctx, window)
	if err != nil {
		return err
	}
	if err := r.settleRead(ctx, p, &cursor); err != nil {
		return err
	}
	// the source counts rows that it could not return, too
	r.Report.Unreadable = result.Unreadable + p.badKeys
	if result.FutureBound {
		r.Note(trade.Say("note.future", "column", r.Job.Spec.ChangedAt))
	}
	if r.Report.Sweep {
		if l := r.Report.Late; l != nil {
			l.Why = trade.Say("note.late", "rows", l.Rows, "latest", l.LargestLateness(),
				"column", r.Job.Spec.ChangedAt, "lookback", r.Job.Spec.Lookback)
			r.Log.Warn("late rows", zap.Stringer("reason", l.Why))
		}
		if err := r.concludeSweep(ctx, p, result, &cursor); err != nil {
			return err
		}
		cursor.Parents = "" // what waits for a parent is compared too
	}
	r.Report.ReadAt = r.Now
	if cursor.Bound == result.Bound && !r.Report.Sweep {
		return nil // a window without news
	}
	cursor.Bound = result.Bound
	// I4: the cursor moves only now, when everything that was read is recorded, in the transaction
	// of the last page.
	return r.Record(ctx, trade.Page{Cursor: &cursor})
}

// settleRead decides on what only the whole of a reading shows: double keys, rows that were cancelled,
// and rows whose keys belong to others now.
func (r *Discoverer) settleRead(ctx context.Context, p *pager, cursor *trade.Cursor) error {
	if err := r.settleDoubles(ctx, p, cursor); err != nil {
		return err
	}
	// The sums of the last sweep get the rows that were cancelled after it, and lose those that are
	// cancelled no longer.
	if len(p.cancelChanges) > 0 && cursor.Sweep != nil && cursor.Sweep.Read != 0 {
		extra := extraRowsOf(cursor.Sweep.Beside)
		of := extra.of(trade.BesideCancelled)
		for _, t := range p.cancelChanges {
			if t.cancelled {
				r.change(of, t.now, (*trade.Sums).Add)
				extra.name(trade.BesideCancelled, t.entry.Key)
			} else {
				r.change(of, t.entry.NewestValues(), (*trade.Sums).Remove)
			}
		}
		var err error
		cursor.Sweep.Beside, err = r.list(ctx, extra)
		if err != nil {
			return err
		}
		if err := r.Record(ctx, trade.Page{Cursor: cursor}); err != nil {
			return err
		}
	}
	return r.markReplaced(ctx)
}

// refresh maps those entries again whose mapping or references have changed, from the values in the
// ledger. A row that waited for a reference goes in the run in which the reference appears,
// although the ERP did not change the row.
func (r *Discoverer) refresh(ctx context.Context) error {
	states := []trade.State{trade.Waiting, trade.Invalid, trade.Rejected, trade.Pending}
	return r.stalePages(ctx, states, func(stale []trade.Entry) error {
		known, err := r.ParentsOf(ctx, mapping.ValuesOf(stale))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range stale {
			entry := r.Eval.Remap(old, old.Values, known)
			if old.Now != nil { // its request is that of what was sent, its quantity that of its newest row
				r.Eval.Measure(&entry, old.Now)
			}
			r.touch(&entry, old)
			page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
		}
		return r.Record(ctx, page)
	})
}

// stalePages calls do for the entries in some states that were not mapped with the present mapping
// and references, page by page.
func (r *Discoverer) stalePages(ctx context.Context, states []trade.State, do func([]trade.Entry) error) error {
	return run.InPages(run.PageSize, func(add func(trade.Entry) error) error {
		return r.Ledger.Stale(ctx, r.Job.Name(), r.Eval.MappedWith, states, add)
	}, do)
}

// Discover reads the references, then the ERP, maps what references and parents have changed, then
// asks the platform for producers by document. Then the brakes judge the result.
func (r *Discoverer) Discover(ctx context.Context, sweep bool, resync *Resync) error {
	read := func(ctx context.Context) error { return r.read(ctx, sweep, resync) }
	adopt := func(ctx context.Context) error {
		_, err := r.AdoptOrphans(ctx)
		return err
	}
	for _, step := range []func(context.Context) error{
		r.LoadReferences, read, r.compareRecoded, r.refresh, adopt, r.markCutOver, r.lookUp, r.Brakes.Brake,
		r.judgeHeld,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	// Rows that are held because of another job may be free again: nothing was sent there, the entry was
	// moved here, or keys are no longer compared. Each is judged as it is in the ERP now; last, as by now
	// the brakes have accepted the job's key space.
	return r.Ledger.HeldFor(ctx, r.Job.Name(), trade.CauseOtherJob, func(held []trade.Entry) error {
		verdicts, _, err := r.Recheck.Judge(ctx, held, nil, nil, nil)
		if err != nil {
			return err
		}
		free := held[:0:0]
		for i, e := range held {
			if verdicts[i].Cause != trade.CauseOtherJob {
				free = append(free, e)
			}
		}
		found, err := r.ReadAgain(ctx, r.Job, free)
		if err != nil {
			return err
		}
		return r.release(ctx, free, found)
	})
}

// Discoverer reads the ERP for one run and records what is new.
type Discoverer struct {
	*run.Run
	Recheck *sending.Checker
	Brakes  *brakes.Guard

	// rows that were sent and have changed in this reading, by entry id
	differ  map[int64]before
	lookups map[string]trade.Lookup // the platform's answers to lookups by document, by code
	tables  tables

	// deliveries that are no living documents, whose products list sets
	deliveries map[string]*deliverySums
}

// New returns the discoverer of one run, with its recheck and brakes.
func New(r *run.Run) *Discoverer {
	c := sending.NewChecker(r)
	return &Discoverer{
		Run: r, Recheck: c, Brakes: brakes.New(r, c), differ: map[int64]before{},
		deliveries: map[string]*deliverySums{},
	}
}

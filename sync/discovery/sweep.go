// The sweep: a comparison of everything in scope with the ledger.

package discovery

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// From these numbers of known rows on, a sweep that finds less than half of them, or none, does not
// prove that the ERP has become emptier: it may be a broken view, a revoked right or a wrong schema
// (F026).
const (
	brakeFewest = 10 // known rows from which less than half is too few
	brakeNone   = 2  // known rows from which none at all is too few
)

// concludeSweep decides what only a complete reading allows to decide: which rows are gone, and
// whether everything adds up (I5, I9).
func (r *Discoverer) concludeSweep(ctx context.Context, p *pager, result erp.Result, cursor *trade.Cursor) error {
	if result.Degraded && result.Unreadable > 0 {
		r.Note(trade.Say("note.sweep", "rows", result.Unreadable))
		r.Report.Sweep = false
		return nil
	}
	count := p.seen.keyCount
	// so few rows were found that the sweep proves nothing
	tooFew := count.Known >= brakeFewest && count.Found*2 < count.Known || count.Known >= brakeNone && count.Found == 0
	// a person's release holds once, and only if at least half as many are found as that person was shown
	released := cursor.Sweep != nil && cursor.Sweep.Released != nil && count.Found*2 >= *cursor.Sweep.Released
	if tooFew && !released {
		r.Report.Sweep = false
		braked := trade.Sweep{}
		if cursor.Sweep != nil {
			braked = *cursor.Sweep
		}
		braked.Braked, braked.Found, braked.Released = p.newest, count.Found, nil
		cursor.Sweep = &braked
		if err := r.Record(ctx, trade.Page{Cursor: cursor}); err != nil {
			return err
		}
		return r.Brakes.Braked(outcome.StopEmptySweep,
			trade.Brake{Rows: count.Known - count.Found, Known: count.Known, Found: count.Found})
	}
	inScope, gone := count.inScope, count.gone
	if count.unsettled > 0 {
		// entries whose row was not found are marked; the second such sweep in a row withdraws those that
		// were never sent
		missing := func(add func(int64) error) error {
			return r.Ledger.EachKnown(ctx, r.Job.Name(), func(k trade.Known) error {
				if !p.seen.missing(&k) || k.State == trade.Sending || k.State == trade.Withdrawn ||
					settledAbsence(&k) {
					return nil
				}
				return add(k.ID)
			})
		}
		err := run.InPages(run.PageSize, missing, func(ids []int64) error {
			entries, err := r.Ledger.Entries(ctx, ids)
			if err != nil {
				return err
			}
			var page trade.Page
			for _, old := range entries {
				entry := old
				entry.GoneSweeps++
				switch {
				case entry.State.MayBeOnPlatform():
					entry.Flags = entry.Flags.With(trade.MissingInERP, !entry.Acknowledged.Has(trade.MissingInERP))
				case entry.GoneSweeps >= 2:
					entry.Withdraw()
				}
				r.touch(&entry, old)
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
			return r.Record(ctx, page)
		})
		if err != nil {
			return err
		}
	}
	// of the rows of a double key, the sweep counts the first with the entry; if the entry has other
	// values than that row, the difference counts too
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(p.unstoredValues)),
		func(key string) bool { return p.doubles[key] == nil })
	for chunk := range slices.Chunk(keys, run.PageSize) {
		entries, err := r.EntriesOf(ctx, r.Job.Name(), chunk)
		if err != nil {
			return err
		}
		of := p.notLiving.of(trade.BesideDouble)
		for _, e := range entries {
			r.change(of, p.unstoredValues[e.Key], (*trade.Sums).Add)
			r.change(of, e.NewestValues(), (*trade.Sums).Remove)
		}
	}
	// rows that the source could not return at all
	if lost := r.Report.Unreadable - p.notLiving.of(trade.BesideNoKey).Rows; lost > 0 {
		of := p.notLiving.of(trade.BesideNoKey)
		of.Rows, of.Unweighed, r.Report.Read = of.Rows+lost, of.Unweighed+lost, r.Report.Read+lost
	}
	notLiving, err := r.list(ctx, p.notLiving)
	if err != nil {
		return err
	}
	r.Report.InScope, r.Report.Gone = &inScope, &gone
	cursor.SweptAt, cursor.Fingerprint = r.Now, r.Job.Fingerprint()
	cursor.Sweep = &trade.Sweep{
		InScope: inScope, Gone: gone, Unreadable: r.Report.Unreadable,
		Read: r.Report.Read, Beside: notLiving,
	}
	return nil
}

// settledAbsence reports whether a further sweep without the row leaves the entry unchanged.
func settledAbsence(k *trade.Known) bool {
	return k.GoneSweeps >= 2 && (k.State == trade.Dismissed || k.State == trade.Held && k.Cause == trade.CauseExists ||
		k.State.MayBeOnPlatform() && (k.Flags.Has(trade.MissingInERP) || k.Acknowledged.Has(trade.MissingInERP)))
}

// lateSamples is how many keys of late rows are listed.
const lateSamples = 5

// countLate counts a row that a sweep found new or changed and that no window would have shown
// (I5), because its time of change is before everything that windows read. Rows without a time are
// in every window and never late.
func (r *Discoverer) countLate(row *mapping.Row) {
	if row.Late == 0 {
		return
	}
	if r.Report.Late == nil {
		r.Report.Late = &trade.Late{Samples: []string{}}
	}
	l := r.Report.Late
	l.Rows++
	l.Largest = max(l.Largest, int64(row.Late/time.Second))
	if len(l.Samples) < lateSamples && !slices.Contains(l.Samples, row.Key) {
		l.Samples = append(l.Samples, row.Key)
	}
}

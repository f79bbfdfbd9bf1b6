package sync

import (
	"context"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Below these figures an emptier ERP is believed; above them a sweep that finds less than half of the known rows proves nothing but a broken view,
// a revoked right or a wrong schema (F026).
const (
	brakeFewest = 10 // known rows from which the half counts
	brakeNone   = 2  // known rows from which finding none at all counts
)

// concludeSweep draws the conclusions that only a complete reading allows: what is gone, and that everything adds up (I5, I9).
func (r *jobRun) concludeSweep(ctx context.Context, p *pager, result erp.Result, cursor *trade.Cursor) error {
	if result.Degraded && result.Unreadable > 0 {
		r.note("the sweep is not complete: %d rows have a key that cannot be read, so no row is taken for missing", result.Unreadable)
		r.report.Sweep = false
		return nil
	}
	count := p.roll.count()
	if count.tooFew() && !believed(cursor.Sweep, count) {
		r.report.Sweep = false
		braked := trade.Sweep{}
		if cursor.Sweep != nil {
			braked = *cursor.Sweep
		}
		braked.Braked, braked.Found, braked.Released = p.newest, count.found, nil
		cursor.Sweep = &braked
		if err := r.record(ctx, trade.Page{Cursor: cursor}); err != nil {
			return err
		}
		return &stopError{trade.Stop{
			Code: string(stopEmptySweep), Brake: &trade.Brake{Job: r.job.Name(), Rows: count.known - count.found, Known: count.known, Found: count.found},
			Text: fmt.Sprintf("the sweep found %d of %d known rows; nothing is taken for missing. Look whether the view, the rights of the ERP user "+
				"and the schema are right, then run `safrasync sync %[3]s --sweep` again; if the ERP has really become emptier, `safrasync release %[3]s --reason TEXT` says so",
				count.found, count.known, r.job.Name()),
		}}
	}
	inScope, gone := count.inScope, count.gone
	if count.unsettled > 0 {
		if err := r.recordAbsences(ctx, p); err != nil {
			return err
		}
	}
	if err := p.leaveDoubles(ctx); err != nil {
		return err
	}
	if lost := r.report.Unreadable - p.beside.of(trade.BesideNoKey).Rows; lost > 0 { // that the reader could not give at all
		of := p.beside.of(trade.BesideNoKey)
		of.Rows, of.Unweighed, r.report.Read = of.Rows+lost, of.Unweighed+lost, r.report.Read+lost
	}
	r.report.InScope, r.report.Gone = &inScope, &gone
	cursor.SweptAt, cursor.Fingerprint = r.now, r.job.fingerprint()
	cursor.Sweep = &trade.Sweep{InScope: inScope, Gone: gone, Unreadable: r.report.Unreadable, Read: r.report.Read, Beside: p.beside.list()}
	return nil
}

// tooFew tells that so little was found that it proves nothing.
func (c rollCount) tooFew() bool {
	return c.known >= brakeFewest && c.found*2 < c.known || c.known >= brakeNone && c.found == 0
}

// believed tells whether a person has said that the ERP has become emptier. That is true of about as many rows as that person was shown, and once.
func believed(last *trade.Sweep, count rollCount) bool {
	return last != nil && last.Released != nil && count.found*2 >= *last.Released
}

// callRoll notes all that the ledger knows of the job, before a sweep reads the ERP. The rows that came with a sweep that was braked (last.Braked) say nothing of the
// others. It counts them too, which is what verify asks for at the end when nothing has moved until then.
func (r *jobRun) callRoll(ctx context.Context, p *pager, last *trade.Sweep) error {
	kept, err := r.ledger.Counts(ctx, r.job.Name())
	if err != nil {
		return err
	}
	total := 0
	for _, t := range kept {
		total += t.Count
	}
	p.roll, p.beside, p.newest = make(roll, total), beside{}, 0
	counted, err := r.ledger.Roll(ctx, r.job.Name(), func(k *trade.Known) {
		notes := known
		switch decideRow(k, k.SourceHash, r.eval.mappedWith, false) {
		case same, leave:
			notes |= plain
		}
		if last == nil || last.Braked == 0 || k.ID <= last.Braked {
			p.newest = max(p.newest, k.ID)
			if k.GoneSweeps == 0 && k.State != trade.Withdrawn {
				notes |= alive
			}
		}
		if k.State == trade.Sending || k.State == trade.Withdrawn || settledAbsence(k) {
			notes |= settled
		}
		p.roll.enter(k, notes)
	})
	if err != nil {
		return err
	}
	if slices.Equal(tallyText(kept), tallyText(counted)) {
		r.proved = kept
	}
	return nil
}

// recordAbsences marks the entries whose row was not found; the second sweep in a row withdraws those that were never sent.
func (r *jobRun) recordAbsences(ctx context.Context, p *pager) error {
	var ids []int64
	flush := func() error {
		entries, err := r.ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		ids = ids[:0]
		var page trade.Page
		for _, old := range entries {
			entry := applyAbsence(old)
			touch(&entry, old, r.now)
			page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
		}
		return r.record(ctx, page)
	}
	err := r.ledger.EachKnown(ctx, r.job.Name(), func(k trade.Known) error {
		if p.roll.found(hashKey(k.Key)) || k.State == trade.Sending || k.State == trade.Withdrawn || settledAbsence(&k) {
			return nil
		}
		if ids = append(ids, k.ID); len(ids) < pageSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// settledAbsence tells that a further sweep without the row changes nothing of the entry.
func settledAbsence(k *trade.Known) bool {
	return k.GoneSweeps >= 2 && (k.State == trade.Dismissed || k.State == trade.Held && k.Cause == trade.CauseExists || k.State.Created() && (k.Flags.Has(trade.MissingInERP) || k.Acknowledged.Has(trade.MissingInERP)))
}

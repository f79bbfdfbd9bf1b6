package sync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// noTime is the zero time: nothing is due.
var noTime time.Time

// read is the first step of a run: it reads the ERP, in a window or as a sweep, and records what is news.
func (r *jobRun) read(ctx context.Context, opts Options) error {
	cursor, err := r.ledger.Cursor(ctx, r.job.Name())
	if err != nil {
		return err
	}
	columns, err := r.source.Columns(ctx, r.job.Spec.Query)
	if err != nil {
		return err
	}
	if err := r.job.checkColumns(columns); err != nil {
		return r.stop(stopColumns, err.Error()+"; correct the query or the mapping (`safrasync check` shows both)")
	}
	if err := r.brakeNewJob(ctx, cursor); err != nil {
		return err
	}
	if err := r.brakeSpace(ctx, cursor); err != nil {
		return err
	}
	if err := r.brakeIdentity(ctx, cursor); err != nil {
		return err
	}
	if opts.Resync != nil && !opts.Resync.all() {
		return r.resync(ctx, *opts.Resync)
	}
	r.report.Sweep = opts.Sweep || opts.Resync != nil || r.sweepDue(cursor)
	p := newPager(r)
	p.anew = opts.Resync != nil
	window := erp.Window{Since: cursor.Bound, Lookback: r.job.Spec.Lookback, Whole: r.report.Sweep}
	if cursor.Fingerprint != r.job.fingerprint() { // another query or mapping: what differs for that is not late
		window.Since = ""
		if err := r.renumber(ctx); err != nil {
			return err
		}
	}
	if r.report.Sweep {
		if err := r.callRoll(ctx, p, cursor.Sweep); err != nil {
			return err
		}
	}
	result, err := p.read(ctx, window)
	if err != nil {
		return err
	}
	if err := r.settleDoubles(ctx, p); err != nil {
		return err
	}
	if err := r.markReplaced(ctx); err != nil {
		return err
	}
	r.report.Unreadable = result.Unreadable + p.badKeys // the reader counts also those that it could not give
	if result.FutureBound {
		r.note("rows of the ERP are dated in the future in column %s: they were read, and the reading mark stays at the database's clock", r.job.Spec.ChangedAt)
	}
	if r.report.Sweep {
		r.tellLate()
		if err := r.concludeSweep(ctx, p, result, &cursor); err != nil {
			return err
		}
	}
	if cursor.Bound == result.Bound && !r.report.Sweep {
		return nil // a window without news
	}
	cursor.Bound = result.Bound
	// I4: the mark moves only now, when everything that was read is recorded, and in the transaction of the last page.
	return r.record(ctx, trade.Page{Cursor: &cursor})
}

// sweepDue tells whether this run must compare everything: no change column, a first run, a changed query or mapping, a sweep that is older than its schedule,
// one of the future, when the clock stood wrong (F078), or a person who believes that the ERP has become emptier.
func (r *jobRun) sweepDue(cursor trade.Cursor) bool {
	return r.job.Spec.ChangedAt == "" || cursor.SweptAt.IsZero() || cursor.SweptAt.After(r.now) || cursor.Fingerprint != r.job.fingerprint() ||
		cursor.Sweep != nil && cursor.Sweep.Released != nil || !r.job.sweep.Next(cursor.SweptAt).After(r.now)
}

// settleDoubles holds the keys that stand twice in the ERP, and takes up those that no longer do.
func (r *jobRun) settleDoubles(ctx context.Context, p *pager) error {
	var sent []string // keys that stand twice although one of the rows was sent
	keys := slices.Collect(maps.Keys(p.doubles))
	for key := range p.revived {
		if p.doubles[key] == 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for chunk := range slices.Chunk(keys, pageSize) {
		held, err := r.ledger.Known(ctx, r.job.Name(), chunk)
		if err != nil {
			return err
		}
		if r.dry != nil {
			for _, key := range chunk {
				if _, ok := held[key]; !ok {
					double := trade.Entry{Job: r.job.Name(), Sends: r.job.Spec.Sends, Key: key}
					hold(&double, trade.CauseDuplicateKey, doubleText(key, p.doubles[key]))
					r.dry.holdDouble(double)
				}
			}
		}
		ids := make([]int64, 0, len(held))
		for _, k := range held {
			ids = append(ids, k.ID)
		}
		entries, err := r.ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		rows, err := r.readRevived(ctx, p, entries)
		if err != nil {
			return err
		}
		known, err := r.parentsOf(ctx, r.valuesOfRows(rows))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range entries {
			if p.doubles[old.Key] > 0 && old.State.Created() {
				sent = append(sent, old.Key)
			}
			if entry, changed := r.settleDouble(old, p, rows[old.Key], known); changed {
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		if err := r.record(ctx, page); err != nil {
			return err
		}
	}
	if len(sent) > 0 {
		r.note("%d keys stand more than once in the ERP although one of their rows was sent: correct the ERP, or the joins of the query (%s)",
			len(sent), strings.Join(sent[:min(3, len(sent))], ", "))
	}
	return nil
}

// readRevived reads again, in the whole ERP, the rows of entries that were held for a double key and that the reading found once: a window shows only a
// part, so that once there proves nothing.
func (r *jobRun) readRevived(ctx context.Context, p *pager, entries []trade.Entry) (map[string][]erp.Row, error) {
	var revived []trade.Entry
	for _, e := range entries {
		if parts, ok := p.revived[e.Key]; ok && p.doubles[e.Key] == 0 {
			e.KeyParts = parts
			revived = append(revived, e)
		}
	}
	rows, err := r.readAgain(ctx, r.job, revived)
	if err != nil {
		return nil, err
	}
	found := byKeyOf(r.job, rows)
	for key, rows := range found {
		found[key] = r.job.living(rows)
	}
	return found, nil
}

// valuesOfRows keeps the mapped columns of rows that were read again.
func (r *jobRun) valuesOfRows(byKey map[string][]erp.Row) []trade.Values {
	var out []trade.Values
	for _, rows := range byKey {
		for _, row := range rows {
			out = append(out, r.job.values(row.Get))
		}
	}
	return out
}

// settleDouble decides on one entry whose key stood twice, or does. rows are those of a key that the reading found once.
func (r *jobRun) settleDouble(old trade.Entry, p *pager, rows []erp.Row, known parents) (trade.Entry, bool) {
	entry := old
	entry.UpdatedAt = r.now
	n := max(p.doubles[old.Key], len(rows))
	switch parts, revived := p.revived[old.Key]; {
	case n == 1: // it is cured
		r.eval.evaluate(&entry, r.job.values(rows[0].Get), known)
		entry.KeyParts, entry.SourceHash, entry.GoneSweeps = parts, r.job.sourceHash(rows[0].Get), 0
		r.report.Changed++
		return entry, true
	case n == 0: // it left since it was read: the next run tells
		return entry, false
	case revived:
		r.report.Unchanged++
	case old.State.Created():
		return entry, false
	}
	if old.State == trade.Dismissed || old.State == trade.Rejected || old.State == trade.Held && old.Cause != trade.CauseVanished {
		// It does not go as it is, and its cause must not be forgotten; should it be sent after all, the last look holds it.
		entry.GoneSweeps = 0
		return entry, old.GoneSweeps > 0
	}
	hold(&entry, trade.CauseDuplicateKey, doubleText(old.Key, n))
	return entry, true
}

func doubleText(key string, n int) string {
	return fmt.Sprintf("key %s stands %d times in the ERP; correct the ERP so that it stands once, or add a column to the key", key, n)
}

// hold makes an entry wait for a person.
func hold(entry *trade.Entry, cause, text string) {
	entry.State, entry.Cause = trade.Held, cause
	entry.Error = &trade.EntryError{Kind: trade.ConflictError, Text: text}
	entry.WaitingFor, entry.NextAttemptAt = nil, noTime
}

// refresh maps the entries again whose mapping or references have changed since, from the values that the ledger keeps: a row that waited for a
// reference goes in the run in which the reference is there, although the ERP did not touch the row.
func (r *jobRun) refresh(ctx context.Context) error {
	var stale []trade.Entry
	flush := func() error {
		known, err := r.parentsOf(ctx, valuesOf(stale))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range stale {
			entry := old
			r.eval.evaluate(&entry, old.Values, known)
			entry = applyRemap(old, entry)
			touch(&entry, old, r.now)
			page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
		}
		stale = stale[:0]
		return r.record(ctx, page)
	}
	states := []trade.State{trade.Waiting, trade.Invalid, trade.Rejected, trade.Pending}
	err := r.ledger.Stale(ctx, r.job.Name(), r.eval.mappedWith, states, func(old trade.Entry) error {
		if stale = append(stale, old); len(stale) < pageSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// unreadable counts a row without a usable key; the first few are named.
func (r *jobRun) unreadable(err error) {
	r.report.Unreadable++
	if r.report.Unreadable <= 3 {
		r.note("row %d of the query cannot be identified: %v", r.report.Read, err)
	}
}

// note adds a remark for IT to the report and the log.
func (r *jobRun) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.report.Notes = append(r.report.Notes, text)
	r.log.Warn("note", zap.String("note", text))
}

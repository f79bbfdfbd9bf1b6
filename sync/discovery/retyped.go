// Rows that are held as retyped, and whose content has changed since.

package discovery

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// reworded is an entry that is held as retyped, and what its row would make of it now.
type reworded struct{ old, now trade.Entry }

// settleRetyped decides about held rows whose content has changed. Such a row may be the one that
// was sent, with a correction: it stays held, and a person decides. Only if the content for which it
// is held now has another key in the ERP, the key belongs to another row, which is treated as new.
func (r *Discoverer) settleRetyped(ctx context.Context) error {
	if len(r.reworded) == 0 {
		return nil
	}
	due, err := r.contentsDue(ctx)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(r.reworded, run.PageSize) {
		olds := make([]trade.Entry, len(chunk))
		for i, c := range chunk {
			olds[i] = c.old
		}
		sent, err := r.Recheck.FindSent(ctx, olds, nil)
		if err != nil {
			return err
		}
		if err := r.Recheck.ReadSent(ctx, sent, nil, (*mapping.Job).Living); err != nil {
			return err
		}
		var page trade.Page
		for _, c := range chunk {
			stands := func(s recheck.SentRow) bool { return s.Entry.ID != c.old.ID && s.Stands(c.old) }
			if !due[c.old.Content] &&
				(recheck.LikenessOf(c.old, sent).Moved != nil || !slices.ContainsFunc(sent, stands)) {
				c.now = run.KeepVerdict(c.old, c.now)
			}
			touch(&c.now, c.old, r.Run.Now)
			page.Updates = append(page.Updates, trade.Update{From: c.old.State, Entry: c.now})
		}
		if err := r.Run.Record(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// contentsDue returns the contents of the rows that are due, that are held themselves, or that are
// decided about.
func (r *Discoverer) contentsDue(ctx context.Context) (map[int64]bool, error) {
	out, err := r.contentsHeld(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range r.reworded {
		out[c.now.Content] = true
	}
	if r.Run.Dry != nil {
		for _, e := range r.Run.Dry.Ready {
			out[e.Content] = true
		}
	}
	for after := int64(0); ; {
		entries, err := r.Run.Ledger.DueContents(ctx, r.Run.Job.Name(), r.Run.Now, after, run.PageSize)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			delete(out, 0) // of rows without a content
			return out, nil
		}
		for _, e := range entries {
			out[e.Content] = true
		}
		after = entries[len(entries)-1].ID
	}
}

// contentsHeld returns the contents of the held rows that are in the ERP exactly as in the ledger.
func (r *Discoverer) contentsHeld(ctx context.Context) (map[int64]bool, error) {
	job := r.Run.Job
	var ids []int64
	err := r.Run.Ledger.EachKnown(ctx, job.Name(), func(k trade.Known) error {
		if k.State == trade.Held {
			ids = append(ids, k.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := map[int64]bool{}
	for chunk := range slices.Chunk(ids, run.PageSize) {
		held, err := r.Run.Ledger.Entries(ctx, chunk)
		if err != nil {
			return nil, err
		}
		rows, err := r.Run.ReadAgain(ctx, job, held)
		if err != nil {
			return nil, err
		}
		found := run.ByKeyOf(job, rows)
		for _, e := range held {
			for _, row := range job.Living(found[e.Key]) {
				if job.SourceHash(row.Get) == e.SourceHash {
					out[e.Content] = true
				}
			}
		}
	}
	return out, nil
}

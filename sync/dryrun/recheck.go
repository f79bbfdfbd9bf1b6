// The recheck of a dry run.

package dryrun

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// goesAhead are the rows that would be sent, by what they may be found by.
type goesAhead struct {
	same map[trade.Hash][]*trade.Entry // cells, and identifying fields
	has  map[int64]bool
}

func (g goesAhead) add(e trade.Entry) {
	if g.has[e.ID] {
		return
	}
	g.has[e.ID] = true
	p := sending.ContentOf(&e).Prints
	g.same[p.Cells], g.same[p.Fields] = append(g.same[p.Cells], &e), append(g.same[p.Fields], &e)
}

// of returns those that may be like one of some rows.
func (g goesAhead) of(entries []trade.Entry) (out []trade.Entry) {
	seen := map[int64]bool{}
	for _, e := range entries {
		p := sending.ContentOf(&e).Prints
		for _, other := range slices.Concat(g.same[p.Cells], g.same[p.Fields]) {
			if !seen[other.ID] {
				seen[other.ID] = true
				out = append(out, *other)
			}
		}
	}
	return out
}

// lookAhead rechecks the rows that would be sent, so that a dry run does not promise what the run
// would hold. Rows of earlier readings are read again, as the run would do. Of those that this
// reading has just found, it reads only those that records or other rows may be like.
func lookAhead(ctx context.Context, d *discovery.Discoverer) error {
	ahead := goesAhead{map[trade.Hash][]*trade.Entry{}, map[int64]bool{}}
	err := d.EachUnjudged(0, func(after int64) ([]trade.Entry, error) {
		return d.Ledger.Due(ctx, d.Job.Name(), d.Clock.Now(), after, sending.BatchSize)
	}, func(due []trade.Entry) error { return lookDry(ctx, d, due, ahead) })
	if err != nil {
		return err
	}
	ready := slices.DeleteFunc(d.Dry.Ready, // which nobody reads any more
		func(e trade.Entry) bool { return d.Dry.Fate[run.HashKey(e.Key)].State != trade.Pending })
	for chunk := range slices.Chunk(ready, sending.BatchSize) {
		// of the rows that another job of this dry run would send under the same key only one is sent
		mine := slices.Clone(chunk)
		for _, job := range d.Jobs {
			other := d.Dry.Jobs[job.Name()]
			if job == d.Job || other == nil || job.Spec.Sends != d.Job.Spec.Sends ||
				job.Identity.Space != d.Job.Identity.Space {
				continue
			}
			kept := mine[:0]
			for _, e := range mine {
				if _, goes := other.Goes[run.HashKey(e.Key)]; !goes {
					kept = append(kept, e)
					continue
				}
				sending.HoldOtherJob(&e, trade.Counterpart{Job: job.Name(), Key: e.Key}, trade.Pending)
				if err := d.Dry.HoldBack(ctx, e); err != nil {
					return err
				}
			}
			mine = kept
		}
		rows, err := alike(ctx, d, mine, ahead)
		if err == nil {
			err = lookDry(ctx, d, rows, ahead)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// alike returns the rows that the recheck may hold or flag, and records the others in ahead as rows
// that would be sent.
func alike(ctx context.Context, d *discovery.Discoverer, entries []trade.Entry,
	ahead goesAhead,
) ([]trade.Entry, error) {
	near, err := d.Recheck.Near(ctx, entries)
	if err != nil {
		return nil, err
	}
	var out []trade.Entry
	for i, e := range entries {
		if near[i] || d.Dry.Asked[e.ID] || len(ahead.of(entries[i:i+1])) > 0 {
			out = append(out, e)
		}
		// of rows of one batch that are alike, the second is rechecked with the first ahead of it
		if !near[i] {
			ahead.add(e)
		}
	}
	return out, nil
}

// lookDry rechecks rows as a run does before it stores their intents, and counts the results.
func lookDry(ctx context.Context, d *discovery.Discoverer, entries []trade.Entry, ahead goesAhead) error {
	if len(entries) == 0 {
		return nil
	}
	judged := map[int64]bool{}
	for _, e := range entries {
		judged[e.ID] = true
	}
	before := slices.DeleteFunc(ahead.of(entries), func(e trade.Entry) bool { return judged[e.ID] })
	result, err := d.Recheck.Recheck(ctx, entries, before, nil)
	if err != nil {
		return err
	}
	shown := map[int64]trade.Shown{}
	for _, e := range slices.Concat(entries, before) {
		shown[e.ID] = e.Shown
	}
	var ids []int64
	for _, t := range result.Twins {
		if _, ok := shown[t.ID]; !ok {
			ids = append(ids, t.ID)
		}
	}
	sent, err := d.Ledger.Entries(ctx, ids)
	if err != nil {
		return err
	}
	for _, e := range sent {
		shown[e.ID] = e.Shown
	}
	for _, t := range result.Twins {
		d.Report.Twins.Add(trade.LikeRow{
			Key: t.Row.Key, Job: t.Other.Job, Other: t.Other.Key, RemoteID: t.Other.RemoteID,
			Near: t.Near, Held: t.Held, Lost: t.Lost, Shown: t.Row.Shown, OtherShown: shown[t.ID],
		})
	}
	d.Dry.ForgetParents()
	now := map[int64]trade.Entry{}
	for _, u := range result.Updates {
		now[u.Entry.ID] = u.Entry
	}
	goes := map[int64]bool{}
	for _, e := range result.Ready {
		goes[e.ID] = true
		ahead.add(e)
	}
	for _, old := range entries {
		entry, changed := now[old.ID]
		switch {
		case changed && entry.State != trade.Pending:
			err = d.Dry.HoldBack(ctx, entry)
		case !goes[old.ID]:
			err = d.Dry.Stay(ctx, old)
		case changed && old.ID > 0 && !d.Dry.Judged[old.ID]:
			_, err = d.Dry.Record(ctx, trade.Lease{},
				trade.Page{Updates: []trade.Update{{From: old.State, Entry: entry}}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The recheck of a dry run.

package dryrun

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

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
	others, err := d.Ledger.Entries(ctx, trade.Map(result.Twins, func(t sending.Twin) int64 { return t.ID }))
	if err != nil {
		return err
	}
	shown := map[int64]trade.Shown{}
	for _, e := range slices.Concat(others, entries, slices.Collect(maps.Values(now)), before) {
		shown[e.ID] = e.Shown
	}
	for _, t := range result.Twins {
		d.Report.Twins.Add(trade.LikeRow{
			Key: t.Row.Key, Job: t.Other.Job, Other: t.Other.Key, RemoteID: t.Other.RemoteID,
			Near: t.Near, Held: t.Held, Lost: t.Lost, Shown: t.Row.Shown, OtherShown: shown[t.ID],
		})
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

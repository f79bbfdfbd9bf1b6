// Keys that occur more than once in the ERP, in one spelling or in several.

package discovery

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// double is a key that occurs more than once.
type double struct {
	rows  int            // that the reading found
	parts [][]trade.Cell // the further rows' spellings of the key
}

// addDouble takes a living row whose key was read before. A sweep counts it beside the documents.
func (p *pager) addDouble(row *mapping.Row) {
	d := p.doubles[row.Key]
	if d == nil {
		d = &double{rows: 1}
		p.doubles[row.Key] = d
	}
	d.rows++
	parts := row.Parts()
	if !slices.ContainsFunc(d.parts, func(o []trade.Cell) bool { return slices.Equal(o, parts) }) {
		d.parts = append(d.parts, parts)
	}
	if p.notLiving == nil {
		return
	}
	of := p.notLiving.of(trade.BesideDouble)
	p.run.change(of, row.Values(), (*trade.Sums).Add)
	if d.rows == 2 {
		p.notLiving.name(trade.BesideDouble, row.Key)
	}
}

// settleDoubles holds the keys that occur twice in the ERP, and releases those that no longer do.
// What a window finds is added to the sums of the last sweep, in the cursor.
func (r *Discoverer) settleDoubles(ctx context.Context, p *pager, cursor *trade.Cursor) error {
	var sent []string // keys that occur twice although one of the rows was sent
	keys := slices.Collect(maps.Keys(p.doubles))
	for key := range p.revived {
		if p.doubles[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for chunk := range slices.Chunk(keys, run.PageSize) {
		entries, err := r.EntriesOf(ctx, r.Job.Name(), chunk)
		if err != nil {
			return err
		}
		if r.Dry != nil {
			for _, key := range chunk {
				if !slices.ContainsFunc(entries, func(e trade.Entry) bool { return e.Key == key }) {
					entry := trade.Entry{Job: r.Job.Name(), Sends: r.Job.Spec.Sends, Key: key}
					entry.HoldDouble(p.doubles[key].rows)
					r.Dry.HoldDouble(entry)
				}
			}
		}
		// A window shows only a part of the ERP: finding a key once there proves nothing, and
		// finding it twice does not prove that there is no third row. Of what a sweep found, only
		// those keys are read that were double and are not any more, and those whose sent row was
		// compared before the second one was found.
		var asked []trade.Entry
		for _, e := range entries {
			d := p.doubles[e.Key]
			if _, compared := r.differ[e.ID]; p.notLiving != nil && d != nil && !compared {
				continue
			}
			e.KeyParts = p.spellings(e)
			asked = append(asked, e)
		}
		rows, err := r.ReadAgain(ctx, r.Job, asked)
		if err != nil {
			return err
		}
		for key, found := range rows {
			rows[key] = mapping.Living(found)
		}
		known, err := r.ParentsOf(ctx, mapping.ValuesOfRows(rows))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range entries {
			entry := r.settleDouble(old, p, rows[old.Key], known)
			if p.countInERP(old.Key, rows[old.Key]) > 1 {
				if old.State.MayBeOnPlatform() {
					sent = append(sent, old.Key)
				}
				switch width := len(r.Job.Spec.Key); {
				case p.notLiving == nil:
					if cursor.Sweep == nil || cursor.Sweep.Read == 0 || len(old.KeyParts) > width ||
						len(entry.KeyParts) <= width {
						break
					}
					extra := extraRowsOf(cursor.Sweep.Beside) // these further rows came after the last sweep
					of := extra.of(trade.BesideDouble)
					for _, row := range rows[old.Key] {
						r.change(of, row.Values(), (*trade.Sums).Add)
					}
					r.change(of, entry.NewestValues(), (*trade.Sums).Remove)
					extra.name(trade.BesideDouble, old.Key)
					page.Cursor = cursor
					cursor.Sweep.Read += len(rows[old.Key]) - 1
					cursor.Sweep.Beside, err = r.list(ctx, extra)
					if err != nil {
						return err
					}
				case entry.SourceHash != old.SourceHash: // it has another of its rows now
					of := p.notLiving.of(trade.BesideDouble)
					r.change(of, old.NewestValues(), (*trade.Sums).Add)
					r.change(of, entry.NewestValues(), (*trade.Sums).Remove)
				}
			}
			if !reflect.DeepEqual(entry, old) {
				r.touch(&entry, old)
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		if err := r.Record(ctx, page); err != nil {
			return err
		}
	}
	if len(sent) > 0 {
		r.Note(trade.Say("note.doubles", "count", len(sent), "keys", sent[:min(3, len(sent))]))
	}
	return nil
}

// spellings returns the parts of an entry's key with those that this reading saw.
func (p *pager) spellings(e trade.Entry) []trade.Cell {
	out := slices.Concat(e.KeyParts, p.revived[e.Key])
	if d := p.doubles[e.Key]; d != nil {
		out = append(out, slices.Concat(d.parts...)...)
	}
	return out
}

// countInERP returns how often a key stands in the ERP. A sweep has counted its rows; rows are those
// that were read again.
func (p *pager) countInERP(key string, rows []mapping.Row) int {
	if d := p.doubles[key]; d != nil && p.notLiving != nil {
		return d.rows
	}
	return len(rows)
}

// settleDouble decides on one entry whose key occurs twice, or did. rows are its living
// rows, read again in the whole ERP.
func (r *Discoverer) settleDouble(old trade.Entry, p *pager, rows []mapping.Row, known mapping.Parents) trade.Entry {
	entry, n := old, p.countInERP(old.Key, rows)
	_, revived := p.revived[old.Key]
	switch {
	// the next reading decides, also on a row on which a person has decided meanwhile
	case n == 0, old.State == trade.Sending, n == 1 && (!revived || old.State != trade.Held):
		return old
	case n == 1: // it is cured
		r.Eval.EvaluateRow(&entry, &rows[0], known)
		entry.KeyParts, entry.GoneSweeps = rows[0].Parts(), 0
		r.Report.Changed++
		return entry
	case old.State.MayBeOnPlatform(), old.State == trade.Dismissed:
		entry = r.compareNearest(old, rows, known)
	case revived:
		r.Report.Unchanged++
		fallthrough
	case old.State != trade.Rejected && (old.State != trade.Held || old.Cause == trade.CauseVanished):
		entry.HoldDouble(n)
	default:
		// It is not sent as it is, and its cause must be kept. If it is to be sent later, the
		// recheck holds it.
		entry.GoneSweeps = 0
	}
	// each row's own spelling, once for each row at least: so a window knows that a sweep counted them
	width := len(r.Job.Spec.Key)
	for _, row := range rows {
		old.KeyParts = slices.Concat(old.KeyParts, row.Parts())
	}
	old.KeyParts = p.spellings(old)
	entry.KeyParts = slices.Concat(r.Job.Spellings(&old)...)
	for len(entry.KeyParts) > 0 && len(entry.KeyParts) < n*width {
		entry.KeyParts = append(entry.KeyParts, entry.KeyParts[:width]...)
	}
	return entry
}

// compareNearest compares an entry that was sent, or that a person dismissed, with that of several
// rows of its key which is the nearest: the one that it had before, else one that does not differ
// from what was sent. If all differ, it is always the same one.
func (r *Discoverer) compareNearest(old trade.Entry, rows []mapping.Row, known mapping.Parents) trade.Entry {
	if len(rows) == 0 {
		return old // a sweep met the row that it had before first, or compared none
	}
	was := before{old.SourceHash, old.Flags.Has(trade.Replaced)}
	if b, compared := r.differ[old.ID]; compared {
		was = b
		delete(r.differ, old.ID)
	}
	base := old.Values
	if old.AckValues != nil {
		base = old.AckValues
	}
	slices.SortStableFunc(rows, func(a, b mapping.Row) int { return cmp.Compare(a.SourceHash, b.SourceHash) })
	at := slices.IndexFunc(rows, func(row mapping.Row) bool { return row.SourceHash == was.source })
	if at < 0 {
		at = slices.IndexFunc(rows, func(row mapping.Row) bool {
			return !r.Eval.Differs(old.Key, base, row.Values())
		})
	}
	c := change{row: rows[max(at, 0)], verdict: compare}
	if c.row.SourceHash == old.SourceHash && old.MappedWith != "" {
		c.verdict = seen
	}
	entry := r.apply(old, c, known)
	entry.Flags = entry.Flags.With(trade.Replaced, was.replaced && entry.Flags.Has(trade.Changed))
	return entry
}

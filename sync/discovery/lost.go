// What a reading changes for records: their newest rows, and which of them belong to other rows.

package discovery

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// before is what was known of a row before the reading in which it changed.
type before struct {
	source   trade.Hash
	replaced bool // it was certain already that another row has the key
}

// markReplaced decides on the flag replaced of the rows that were sent and changed in this reading;
// applyChanges has set it on all of them. Those keep it whose key holds another document or has left
// the ERP again, and those whose rows have changed places: what their row is now was sent under
// another key that has lost it, or what it was is under another key now. The newest row of a record
// is followed only while it is its row. A row that cannot be sent keeps the flag until it can be, and
// is judged then: nobody knows which document it is.
func (r *Discoverer) markReplaced(ctx context.Context) error {
	stood := make(map[trade.Hash]bool, len(r.differ)) // their source hashes before
	for _, was := range r.differ {
		stood[was.source] = true
	}
	unread, err := r.Ledger.Unread(ctx, r.Job.Name())
	if err != nil {
		return err
	}
	for id, source := range unread {
		if _, changed := r.differ[id]; !changed {
			r.differ[id] = before{source: source}
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(r.differ)), run.PageSize) {
		entries, err := r.Ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		// the ledger has these rows beside what was sent (Now)
		values := trade.Map(entries, func(e trade.Entry) trade.Values { return e.Now })
		known, err := r.ParentsOf(ctx, values)
		if err != nil {
			return err
		}
		rows := make([]identity.ERPRow, 0, 2*len(entries))
		for i, e := range entries {
			now := r.Eval.Would(e, values[i], known)
			was := identity.ERPRow{ID: e.ID, Job: e.Job, Key: e.Key}
			was.Cells = r.differ[e.ID].source
			rows = append(rows, sending.RowOf(r.Job, &now), was)
		}
		of, err := r.Recheck.Exactly(ctx, rows)
		if err != nil {
			return err
		}
		found := identity.Found(of, rows)
		var updates []trade.Update
		empty := map[int64]bool{} // what their rows were is elsewhere now, and their keys have no row
		for i, old := range entries {
			was, content := r.differ[old.ID], rows[2*i].Content
			_, open := unread[old.ID]
			moved, other := hasMoved(old, was.source, content, of, empty)
			moved = moved || !open && (was.replaced || stood[old.SourceHash])
			entry := old
			switch {
			case moved, other && content.Known(), open && !content.Known():
				var changed bool
				entry.Sightings, changed = identity.Followed(&rows[2*i], of, found)
				if !changed {
					continue
				}
			case !other:
				entry.Flags = old.Flags.With(trade.Replaced, false)
				fallthrough
			default:
				entry.Newest = content.Prints // until it can be sent, its cells alone
			}
			updates = append(updates, trade.Update{From: old.State, Entry: entry})
		}
		lost, err := r.FlagReplaced(ctx, empty)
		if err != nil {
			return err
		}
		if err := r.Record(ctx, trade.Page{Updates: append(updates, lost...)}); err != nil {
			return err
		}
	}
	return nil
}

// hasMoved reports whether what a row is now was sent under another key that has lost it, or what it
// was is under another key now; and whether its own key holds another document, one that is not
// known, or nothing any more. It adds the rows to empty whose keys are gone and that are this row now.
func hasMoved(old trade.Entry, was trade.Hash, content identity.Content, of []identity.Candidate,
	empty map[int64]bool,
) (moved, other bool) {
	for i := range of {
		record := &of[i].Record
		record.Row.Replaced = false // that is decided here
		standing := identity.StandingOf(record, of[i].Now)
		switch {
		case record.Row.ID == old.ID:
			other = standing >= identity.Replaced
			moved = moved || slices.ContainsFunc(record.Sightings, func(s trade.Sighting) bool { // its row is elsewhere
				here := s.Cells == record.Sent.Cells || s.Cells == record.Newest.Cells
				return s.Row != old.ID && s.Cells != "" && here
			})
		case standing >= identity.Amended && identity.Same(record, content.Prints): // it came from there
			moved = true
			if standing == identity.Gone && record.Row.Job == old.Job {
				empty[record.Row.ID] = true
			}
		case record.Sent.Cells != was && // it went there
			slices.ContainsFunc(of[i].Now, func(c identity.Content) bool { return c.Cells == was }):
			moved = true
		}
	}
	return moved, other
}

// judgeHeld judges the rows again that are held as retyped, after a reading that found something
// new. Such a row stays held, edited or not, until the record has its own row again, or another row
// is exactly that of the record.
func (r *Discoverer) judgeHeld(ctx context.Context) error {
	if r.Report.New+r.Report.Changed == 0 && !r.Report.Sweep {
		return nil
	}
	job := r.Job
	return r.Ledger.HeldFor(ctx, job.Name(), trade.CauseRetyped, func(held []trade.Entry) error {
		found, err := r.ReadAgain(ctx, job, held)
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(e trade.Entry) bool { return mapping.Choose(found[e.Key]).Living != 1 })
		verdicts, of, err := r.Recheck.Judge(ctx, held, nil, nil, found)
		if err != nil {
			return err
		}
		var free []trade.Entry
		var named trade.Page
		for i, e := range held {
			switch v := verdicts[i]; {
			case v.Cause == "":
				free = append(free, e)
			case v.Cause == trade.CauseRetyped:
				entry := e
				// a rebuilt ledger does not say for which record
				known := e.Error != nil && e.Error.Counterpart != nil
				if known && seenAs(&e, v.All, of) {
					continue
				}
				sending.HoldRetyped(&entry, v)
				if !known {
					entry.UpdatedAt = r.Clock.Now()
				}
				named.Updates = append(named.Updates, trade.Update{From: e.State, Entry: entry})
			}
		}
		if err := r.Record(ctx, named); err != nil {
			return err
		}
		return r.release(ctx, free, found)
	})
}

// seenAs reports whether the ledger has that a row may be that of some records, and of no others, as it is
// now. What cannot be mapped stays as it was.
func seenAs(e *trade.Entry, records []int64, of []identity.Candidate) bool {
	prints := sending.ContentOf(e).Prints
	return !prints.Known() || !slices.ContainsFunc(of, func(c identity.Candidate) bool {
		at := slices.IndexFunc(c.Record.Sightings, func(s trade.Sighting) bool { return s.Row == e.ID })
		is := at >= 0 && c.Record.Sightings[at].Prints == prints
		return c.Record.ID > 0 && (slices.Contains(records, c.Record.ID) != is || at >= 0 && !is)
	})
}

// release lets go the rows among entries that stand once in the ERP, as they were found there.
func (r *Discoverer) release(ctx context.Context, entries []trade.Entry, found map[string][]mapping.Row) error {
	known, err := r.ParentsOf(ctx, mapping.ValuesOfRows(found))
	if err != nil {
		return err
	}
	var page trade.Page
	for _, old := range entries {
		c := mapping.Choose(found[old.Key])
		if c.Living != 1 {
			continue
		}
		entry := old
		r.Eval.EvaluateRow(&entry, c.Row, known)
		entry.UpdatedAt = r.Clock.Now()
		page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
	}
	return r.Record(ctx, page)
}

// printsOf returns the fingerprints of a row as it would be sent now.
func (r *Discoverer) printsOf(values trade.Values, cells trade.Hash, known mapping.Parents) trade.Prints {
	would := r.Eval.Would(trade.Entry{}, values, known)
	return trade.PrintsOf(r.Job.Spec.Sends, cells, would.Target, would.Payload)
}

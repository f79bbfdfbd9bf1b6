// The flag replaced: another row has the key of the entry now.

package discovery

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// before is what was known of a row before the reading in which it changed.
type before struct {
	source   trade.Hash
	replaced bool // it was certain already that another row has the key
}

// markReplaced decides on the flag replaced of the rows that changed in this reading; applyChanges
// has set it on all of them. Only those keep it whose rows have changed places: the old content is
// under another key now, or the new content was under another key before, or was sent under a key
// that does not have it any more.
func (r *Discoverer) markReplaced(ctx context.Context) error {
	stood := make(map[trade.Hash]bool, len(r.differ)) // their source hashes before
	for _, was := range r.differ {
		stood[was.source] = true
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(r.differ)), run.PageSize) {
		entries, err := r.Run.Ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		now, err := r.newestOf(ctx, entries)
		if err != nil {
			return err
		}
		sent, err := r.sentLike(ctx, entries, now)
		if err != nil {
			return err
		}
		var page trade.Page
		empty := map[int64]trade.Entry{} // sent content is elsewhere now, and the key has no row
		for i, old := range entries {
			was := r.differ[old.ID]
			moved := was.replaced || stood[old.SourceHash]
			for _, s := range sent {
				// an entry whose record has this content itself is a twin
				left := s.Entry.Job == old.Job && s.Entry.SourceHash == was.source && !s.Sent(old)
				came := s.Sent(now[i]) && !s.Stands(now[i])
				if s.Entry.ID == old.ID || !left && !came {
					continue
				}
				moved = true
				if came && len(s.Now) == 0 && s.Entry.Job == old.Job && s.Entry.State == trade.Accepted &&
					!s.Entry.Flags.Has(trade.Replaced) {
					empty[s.Entry.ID] = s.Entry
				}
			}
			if !moved {
				entry := old
				entry.Flags = old.Flags.With(trade.Replaced, false)
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		for _, id := range slices.Sorted(maps.Keys(empty)) {
			entry := empty[id]
			entry.Flags, entry.UpdatedAt = entry.Flags.With(trade.Replaced, true), r.Run.Now
			page.Updates = append(page.Updates, trade.Update{From: trade.Accepted, Entry: entry})
		}
		if err := r.Run.Record(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// sentLike returns the rows that were sent, or may have been, and whose content or source is that
// of the entries now or before, with the rows that the ERP has under their keys.
func (r *Discoverer) sentLike(ctx context.Context, entries, now []trade.Entry) ([]recheck.SentRow, error) {
	var contents []int64
	var sources []trade.Hash
	for i, e := range entries {
		contents, sources = append(contents, now[i].Content), append(sources, r.differ[e.ID].source)
	}
	found, err := r.Run.Ledger.SameContent(ctx, r.Run.Job.Spec.Sends, contents, sources)
	if err != nil {
		return nil, err
	}
	sent := make([]recheck.SentRow, len(found))
	for i, f := range found {
		sent[i].SentContent = f
	}
	return sent, r.Recheck.ReadSent(ctx, sent, nil, (*mapping.Job).Living)
}

// newestOf returns entries as their newest rows would make them. The ledger has these rows beside
// what was sent (Now).
func (r *Discoverer) newestOf(ctx context.Context, entries []trade.Entry) ([]trade.Entry, error) {
	values := make([]trade.Values, len(entries))
	for i, e := range entries {
		values[i] = e.Now
	}
	known, err := r.Run.ParentsOf(ctx, values)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(entries)
	for i := range out {
		r.Run.Eval.Evaluate(&out[i], values[i], known)
	}
	return out, nil
}

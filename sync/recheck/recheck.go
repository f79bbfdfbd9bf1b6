// The recheck: rows are read again by their keys before they are sent (I8).

package recheck

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// A recheck is valid for HoldsFor; rows that have not left by then are rechecked. BatchSize rows
// are rechecked together.
const (
	HoldsFor  = 2 * time.Second
	BatchSize = 64
)

// Rechecked is the result of a recheck (I8).
type Rechecked struct {
	Ready   []trade.Entry  // may be sent as they are now
	Updates []trade.Update // what the recheck changed; pending ones are in Ready too
	differ  bool           // a row differs from what the ledger has
	Sent    []SentRow      // rows that were, or may have been, sent with such content
}

// Recheck reads the rows again by their keys, in one short query. A row that changed is mapped
// again; one that is gone, doubled or cancelled is held; one whose content was sent under another
// key that does not have it any more is held too. What was sent with the same content is read in
// the same query, so that all of it is from the same moment. storing are intents that are being
// stored.
func (r *Checker) Recheck(ctx context.Context, entries, storing []trade.Entry) (Rechecked, error) {
	sent, err := r.FindSent(ctx, entries, storing)
	if err != nil {
		return Rechecked{}, err
	}
	for {
		found, out, err := r.recheckAll(ctx, entries, sent)
		if err != nil {
			return Rechecked{}, err
		}
		missed := false
		if out.differ { // a row with new content may equal sent rows that were not read yet
			again, err := r.FindSent(ctx, out.Ready, storing)
			if err != nil {
				return Rechecked{}, err
			}
			sent, missed = joined(sent, again)
		}
		if missed {
			continue
		}
		if err := r.ReadSent(ctx, sent, found, (*mapping.Job).Living); err != nil {
			return Rechecked{}, err
		}
		if err := r.holdSentElsewhere(ctx, &out); err != nil {
			return Rechecked{}, err
		}
		r.holdMoved(&out, sent)
		out.Sent = sent
		return out, r.recheckParents(ctx, &out)
	}
}

// recheckParents keeps rows from being sent under a record that does not belong to the row which
// has their parent's key now. They wait, and are judged again in each run; usually the next reading
// of the parents resolves it.
func (r *Checker) recheckParents(ctx context.Context, out *Rechecked) error {
	jobs := r.run.Job.Mapping.SentBy
	if len(jobs) == 0 || len(out.Ready) == 0 {
		return nil
	}
	asked := map[trade.ParentKey]*SentRow{}
	for _, e := range out.Ready {
		for _, k := range r.run.Job.Mapping.ParentKeys(nil, mapping.ColumnsIn(e.Values)) {
			asked[k] = nil
		}
	}
	var sent []SentRow
	for _, job := range jobs {
		var keys []string
		for k := range asked {
			if k.Job == job {
				keys = append(keys, k.Key)
			}
		}
		slices.Sort(keys)
		entries, err := r.run.EntriesOf(ctx, job, keys)
		if err != nil {
			return err
		}
		for _, e := range entries {
			sent = append(sent, SentRow{SentContent: trade.SentContent{Entry: e}})
		}
	}
	sent = append(sent, r.parentsElsewhere(asked, sent)...)
	if err := r.ReadSent(ctx, sent, nil, anyRow); err != nil {
		return err
	}
	for i := range sent {
		asked[trade.ParentKey{Job: sent[i].Entry.Job, Key: sent[i].Entry.Key}] = &sent[i]
	}
	out.Ready = slices.DeleteFunc(out.Ready, func(e trade.Entry) bool {
		parent := misplaced(r.run.Job.Mapping, mapping.ColumnsIn(e.Values), asked)
		if parent == nil {
			return false
		}
		from := e
		e.State, e.Cause, e.Error = trade.Waiting, trade.CauseParent, nil
		e.WaitingFor = []trade.Awaited{{
			Job: parent.Job, Key: parent.Key, ParentState: parent.State,
			ParentCause: trade.CauseReplaced,
		}}
		e.NextAttemptAt, e.UpdatedAt = r.run.Env.Clock.Now(), r.run.Env.Clock.Now()
		out.hold(from, e)
		return true
	})
	return nil
}

// anyRow returns all rows, cancelled ones too: if another contract has the number now, it does not
// matter whether that one is still valid.
func anyRow(_ *mapping.Job, rows []erp.Row) []erp.Row { return rows }

// parentsElsewhere returns the keys that are asked of several jobs, for those jobs that do not know
// them yet: the row with the key may have moved into the scope of another job.
func (r *Checker) parentsElsewhere(asked map[trade.ParentKey]*SentRow, sent []SentRow) []SentRow {
	parts := map[string][]trade.Cell{}
	for _, s := range sent {
		parts[s.Entry.Key] = s.Entry.KeyParts
		delete(asked, trade.ParentKey{Job: s.Entry.Job, Key: s.Entry.Key})
	}
	var out []SentRow
	for k := range asked {
		if of, ok := parts[k.Key]; ok {
			out = append(out,
				SentRow{SentContent: trade.SentContent{Entry: trade.Entry{Job: k.Job, Key: k.Key, KeyParts: of}}})
		}
	}
	return out
}

// joined returns have with the rows of more that it lacks, and reports whether there were any.
func joined(have, more []SentRow) (all []SentRow, added bool) {
	known := make(map[int64]bool, len(have))
	for _, s := range have {
		known[s.Entry.ID] = true
	}
	n := len(have)
	for _, s := range more {
		if !known[s.Entry.ID] {
			have = append(have, s)
		}
	}
	return have, len(have) > n
}

// recheckAll reads the rows of entries, and of rows that were sent with the same content, and
// decides on the entries. It returns the rows by key.
func (r *Checker) recheckAll(ctx context.Context, entries []trade.Entry,
	sent []SentRow,
) (map[string][]erp.Row, Rechecked, error) {
	asked := slices.Clone(entries)
	known := make(map[int64]bool, len(entries))
	for _, e := range entries {
		known[e.ID] = true
	}
	for _, s := range sent {
		if s.Entry.Job == r.run.Job.Name() && !known[s.Entry.ID] {
			asked = append(asked, s.Entry)
		}
	}
	rows, err := r.run.ReadAgain(ctx, r.run.Job, asked)
	if err != nil {
		return nil, Rechecked{}, err
	}
	found := run.ByKeyOf(r.run.Job, rows)
	parents, err := r.run.ParentsOf(ctx, r.run.ValuesOfRows(found))
	if err != nil {
		return nil, Rechecked{}, err
	}
	out := Rechecked{Ready: make([]trade.Entry, 0, len(entries))}
	for _, old := range entries {
		entry := r.recheckEntry(old, found[old.Key], parents)
		if entry.State != old.State || entry.PayloadHash != old.PayloadHash || entry.SourceHash != old.SourceHash ||
			entry.MappedWith != old.MappedWith {
			// A row with a parent that may have changed with it waits for the next reading, which
			// reads both. It stays unchanged, so that each recheck until then sees that it differs.
			if entry.State == trade.Pending && len(r.run.Job.Mapping.SentBy) > 0 && entry.SourceHash != old.SourceHash {
				continue
			}
			out.differ = true
			entry.UpdatedAt = r.run.Env.Clock.Now()
			out.Updates = append(out.Updates, trade.Update{From: old.State, Entry: entry})
			entry.Version++ // once the update is stored
		}
		if entry.State == trade.Pending {
			out.Ready = append(out.Ready, entry)
		}
	}
	return found, out, nil
}

func (r *Checker) recheckEntry(old trade.Entry, rows []erp.Row, known mapping.Parents) trade.Entry {
	entry := old
	switch c := r.run.Job.Choose(rows); {
	case len(rows) == 0:
		run.Hold(&entry, trade.CauseVanished,
			"the row left the ERP between reading and sending; if it stays away it is withdrawn", nil)
	case c.Cancelled():
		run.Hold(&entry, trade.CauseVanished,
			"the row was cancelled in the ERP before it was sent; if it stays so it is withdrawn", nil)
	case c.Row == nil:
		run.HoldDouble(&entry, c.Living)
	default:
		get := c.Row.Get
		hash := r.run.Job.SourceHash(get)
		if hash == old.SourceHash && old.MappedWith == r.run.Eval.MappedWith && !r.run.Job.Mapping.Unfit(get, known) {
			return entry
		}
		r.run.Eval.Evaluate(&entry, r.run.Job.Values(get), known)
		entry = run.ApplyRemap(old, entry)
		entry.SourceHash, entry.Shown = hash, r.run.Job.Shown(old.Key, get)
	}
	return entry
}

// hold replaces an entry's update by one that holds it, or adds that update.
func (l *Rechecked) hold(from, entry trade.Entry) {
	for i := range l.Updates {
		if l.Updates[i].Entry.ID == entry.ID {
			// recheckAll raised it for the update that is replaced here
			entry.Version = from.Version - 1
			l.Updates[i].Entry = entry
			return
		}
	}
	l.Updates = append(l.Updates, trade.Update{From: from.State, Entry: entry})
}

// The last reading of rows by their keys before they go (I8).

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

// A last look holds for lookHolds: rows that have not left by then are looked at again. lookBatch
// rows are looked at together.
const (
	HoldsFor  = 2 * time.Second
	BatchSize = 64
)

// Rechecked is the result of a last look at rows that are about to go (I8).
type Rechecked struct {
	Ready   []trade.Entry  // may go as they are now
	Updates []trade.Update // what the look changed; those that are still pending are in ready too
	differ  bool           // a row is another one than the ledger has
	Sent    []SentRow      // rows that were sent, or may have been, with the content of some
}

// Recheck reads the rows again by their keys, in one short query. A row that changed is mapped
// again; one that is gone, doubled or cancelled is held; one whose content went out under another
// key, where it stands no more, is held too. What was sent with the same content is read in the
// same query, so that all of it is of one moment. storing are intents on their way to the disk.
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
		if out.differ { // a row that has another content now may be like others that were not read
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

// recheckParents keeps rows from going under a record that is not that of the row which stands
// under their parent's key now. They wait, and are looked at again in each run: as a rule the next
// reading of the parents knows of both rows.
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

// anyRow counts cancelled rows too: what has the number of a contract now is another contract,
// whether it is still good or not.
func anyRow(_ *mapping.Job, rows []erp.Row) []erp.Row { return rows }

// parentsElsewhere returns the keys that are asked of several jobs as those of the jobs which do
// not know them yet: what stands under the key may have come into the scope of another one.
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

// joined adds the rows of more that are not in have, and reports whether there were any.
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

// recheckAll reads entries and rows that were sent with the same content, and decides on the
// entries. The rows are returned by key.
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
			// What hangs on a row that may have changed with it waits for the next reading, which
			// knows of both: it stays as it is, so that each look until then sees that it differs.
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
			"the row left the ERP between reading and sending; if it stays away it is withdrawn")
	case c.Cancelled():
		run.Hold(&entry, trade.CauseVanished,
			"the row was cancelled in the ERP before it was sent; if it stays so it is withdrawn")
	case c.Row == nil:
		run.Hold(&entry, trade.CauseDuplicateKey, run.DoubleText(old.Key, c.Living))
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

// hold puts an entry that was ready among the updates, in place of an earlier update of the same
// entry.
func (l *Rechecked) hold(from, entry trade.Entry) {
	for i := range l.Updates {
		if l.Updates[i].Entry.ID == entry.ID {
			entry.Version = from.Version - 1 // look raised it for the update that this one replaces
			l.Updates[i].Entry = entry
			return
		}
	}
	l.Updates = append(l.Updates, trade.Update{From: from.State, Entry: entry})
}

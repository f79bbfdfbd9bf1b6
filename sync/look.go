package sync

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// A last look holds for lookHolds: rows that have not left by then are looked at again. lookBatch
// rows are looked at together.
const (
	lookHolds = 2 * time.Second
	lookBatch = 64
)

// looked is the result of a last look at rows that are about to go (I8).
type looked struct {
	ready   []trade.Entry  // may go as they are now
	updates []trade.Update // what the look changed; those that are still pending are in ready too
	differ  bool           // a row is another one than the ledger has
	sent    []sentRow      // rows that were sent, or may have been, with the content of some
}

// look reads the rows again by their keys, in one short query. A row that changed is mapped again;
// one that is gone, doubled or cancelled is held; one whose content went out under another key,
// where it stands no more, is held too. What was sent with the same content is read in the same
// query, so that all of it is of one moment. storing are intents on their way to the disk.
func (r *jobRun) look(ctx context.Context, entries, storing []trade.Entry) (looked, error) {
	sent, err := r.findSent(ctx, entries, storing)
	if err != nil {
		return looked{}, err
	}
	for {
		found, out, err := r.lookAtAll(ctx, entries, sent)
		if err != nil {
			return looked{}, err
		}
		missed := false
		if out.differ { // a row that has another content now may be like others that were not read
			again, err := r.findSent(ctx, out.ready, storing)
			if err != nil {
				return looked{}, err
			}
			sent, missed = joined(sent, again)
		}
		if missed {
			continue
		}
		if err := r.readSent(ctx, sent, found, (*Job).living); err != nil {
			return looked{}, err
		}
		if err := r.lookAtOtherJobs(ctx, &out); err != nil {
			return looked{}, err
		}
		r.holdMoved(&out, sent)
		out.sent = sent
		return out, r.lookAtParents(ctx, &out)
	}
}

// lookAtParents keeps rows from going under a record that is not that of the row which stands under
// their parent's key now. They wait, and are looked at again in each run: as a rule the next reading
// of the parents knows of both rows.
func (r *jobRun) lookAtParents(ctx context.Context, out *looked) error {
	jobs := r.job.mapping.sentBy
	if len(jobs) == 0 || len(out.ready) == 0 {
		return nil
	}
	asked := map[trade.ParentKey]*sentRow{}
	for _, e := range out.ready {
		for _, k := range r.job.mapping.parentKeys(nil, columnsIn(e.Values)) {
			asked[k] = nil
		}
	}
	var sent []sentRow
	for _, job := range jobs {
		var keys []string
		for k := range asked {
			if k.Job == job {
				keys = append(keys, k.Key)
			}
		}
		slices.Sort(keys)
		known, err := r.ledger.Known(ctx, job, keys)
		if err != nil {
			return err
		}
		ids := make([]int64, 0, len(known))
		for _, k := range known {
			ids = append(ids, k.ID)
		}
		entries, err := r.ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		for _, e := range entries {
			sent = append(sent, sentRow{SentContent: trade.SentContent{Entry: e}})
		}
	}
	sent = append(sent, r.elsewhere(asked, sent)...)
	if err := r.readSent(ctx, sent, nil, anyRow); err != nil {
		return err
	}
	for i := range sent {
		asked[trade.ParentKey{Job: sent[i].Entry.Job, Key: sent[i].Entry.Key}] = &sent[i]
	}
	out.ready = slices.DeleteFunc(out.ready, func(e trade.Entry) bool {
		parent := r.job.mapping.misplaced(columnsIn(e.Values), asked)
		if parent == nil {
			return false
		}
		from := e
		e.State, e.Cause, e.Error = trade.Waiting, trade.CauseParent, nil
		e.WaitingFor = []trade.Awaited{{Job: parent.Job, Key: parent.Key, ParentState: parent.State, ParentCause: trade.CauseReplaced}}
		e.NextAttemptAt, e.UpdatedAt = r.Clock.Now(), r.Clock.Now()
		out.hold(from, e)
		return true
	})
	return nil
}

// anyRow counts cancelled rows too: what has the number of a contract now is another contract, whether
// it is still good or not.
func anyRow(_ *Job, rows []erp.Row) []erp.Row { return rows }

// elsewhere gives the keys that are asked of several jobs as those of the jobs which do not know them
// yet: what stands under the key may have come into the scope of another one.
func (r *jobRun) elsewhere(asked map[trade.ParentKey]*sentRow, sent []sentRow) []sentRow {
	parts := map[string][]trade.Cell{}
	for _, s := range sent {
		parts[s.Entry.Key] = s.Entry.KeyParts
		delete(asked, trade.ParentKey{Job: s.Entry.Job, Key: s.Entry.Key})
	}
	var out []sentRow
	for k := range asked {
		if of, ok := parts[k.Key]; ok {
			out = append(out, sentRow{SentContent: trade.SentContent{Entry: trade.Entry{Job: k.Job, Key: k.Key, KeyParts: of}}})
		}
	}
	return out
}

// joined adds the rows of more that are not in have, and reports whether there were any.
func joined(have, more []sentRow) (all []sentRow, added bool) {
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

// lookAtAll reads entries and rows that were sent with the same content, and decides on the
// entries. The rows are returned by key.
func (r *jobRun) lookAtAll(ctx context.Context, entries []trade.Entry, sent []sentRow) (map[string][]erp.Row, looked, error) {
	asked := slices.Clone(entries)
	known := make(map[int64]bool, len(entries))
	for _, e := range entries {
		known[e.ID] = true
	}
	for _, s := range sent {
		if s.Entry.Job == r.job.Name() && !known[s.Entry.ID] {
			asked = append(asked, s.Entry)
		}
	}
	rows, err := r.readAgain(ctx, r.job, asked)
	if err != nil {
		return nil, looked{}, err
	}
	found := byKeyOf(r.job, rows)
	parents, err := r.parentsOf(ctx, r.valuesOfRows(found))
	if err != nil {
		return nil, looked{}, err
	}
	out := looked{ready: make([]trade.Entry, 0, len(entries))}
	for _, old := range entries {
		entry := r.lookAt(old, found[old.Key], parents)
		if entry.State != old.State || entry.PayloadHash != old.PayloadHash || entry.SourceHash != old.SourceHash || entry.MappedWith != old.MappedWith {
			// What hangs on a row that may have changed with it waits for the next reading, which knows
			// of both: it stays as it is, so that each look until then sees that it differs.
			if entry.State == trade.Pending && len(r.job.mapping.sentBy) > 0 && entry.SourceHash != old.SourceHash {
				continue
			}
			out.differ = true
			entry.UpdatedAt = r.Clock.Now()
			out.updates = append(out.updates, trade.Update{From: old.State, Entry: entry})
			entry.Version++ // once the update is stored
		}
		if entry.State == trade.Pending {
			out.ready = append(out.ready, entry)
		}
	}
	return found, out, nil
}

// readAgain reads the rows of entries of one job by their keys. One whose key had other columns
// than the configuration names now is not in the ERP any more.
func (r *jobRun) readAgain(ctx context.Context, job *Job, entries []trade.Entry) ([]erp.Row, error) {
	var keys [][]erp.Value
	for _, e := range entries {
		if len(e.KeyParts) == len(job.Spec.Key) {
			keys = append(keys, keyValues(e.KeyParts))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return r.source.ByKeys(ctx, job.query, keys)
}

// byKeyOf groups rows of a job by their key; rows whose key cannot be read belong to nobody.
func byKeyOf(job *Job, rows []erp.Row) map[string][]erp.Row {
	out := make(map[string][]erp.Row, len(rows))
	for _, row := range rows {
		if key, _, err := rowKey(row, job.Spec.Key); err == nil {
			out[key] = append(out[key], row)
		}
	}
	return out
}

func (r *jobRun) lookAt(old trade.Entry, rows []erp.Row, known parents) trade.Entry {
	entry := old
	switch c := r.job.choose(rows); {
	case len(rows) == 0:
		hold(&entry, trade.CauseVanished, "the row left the ERP between reading and sending; if it stays away it is withdrawn")
	case c.cancelled():
		hold(&entry, trade.CauseVanished, "the row was cancelled in the ERP before it was sent; if it stays so it is withdrawn")
	case c.row == nil:
		hold(&entry, trade.CauseDuplicateKey, doubleText(old.Key, c.living))
	default:
		get := c.row.Get
		hash := r.job.sourceHash(get)
		if hash == old.SourceHash && old.MappedWith == r.eval.mappedWith && !r.job.mapping.unfit(get, known) {
			return entry
		}
		r.eval.evaluate(&entry, r.job.values(get), known)
		entry = applyRemap(old, entry)
		entry.SourceHash = hash
	}
	return entry
}

// hold puts an entry that was ready among the updates, in place of an earlier update of the same
// entry.
func (l *looked) hold(from, entry trade.Entry) {
	for i := range l.updates {
		if l.updates[i].Entry.ID == entry.ID {
			entry.Version = from.Version - 1 // look raised it for the update that this one replaces
			l.updates[i].Entry = entry
			return
		}
	}
	l.updates = append(l.updates, trade.Update{From: from.State, Entry: entry})
}

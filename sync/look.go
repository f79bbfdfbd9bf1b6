package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// A last look holds for lookHolds: rows that have not left by then are looked at again. lookBatch rows are read in one query.
const (
	lookHolds = 2 * time.Second
	lookBatch = 64
)

// looked is the result of a last look at rows that are about to go (I8).
type looked struct {
	ready   []trade.Entry  // may go as they are now
	updates []trade.Update // what the look changed; those that are still pending are in ready too
}

// look reads the rows again by their keys, in one short query. A row that changed is mapped again; one that is gone, doubled or cancelled is held; one
// whose content went out under a key that the ERP no longer has is held too.
func (r *jobRun) look(ctx context.Context, entries []trade.Entry) (looked, error) {
	rows, err := r.readAgain(ctx, r.job, entries)
	if err != nil {
		return looked{}, err
	}
	found := r.byKey(rows)
	known, err := r.parentsOf(ctx, r.valuesOfRows(found))
	if err != nil {
		return looked{}, err
	}
	var out looked
	for _, old := range entries {
		entry := r.lookAt(old, found[old.Key], known)
		if entry.State != old.State || entry.PayloadHash != old.PayloadHash || entry.SourceHash != old.SourceHash || entry.MappedWith != old.MappedWith {
			entry.UpdatedAt = r.Clock.Now()
			out.updates = append(out.updates, trade.Update{From: old.State, Entry: entry})
			entry.Version++ // once the update is stored
		}
		if entry.State == trade.Pending {
			out.ready = append(out.ready, entry)
		}
	}
	return out, r.lookForTwins(ctx, &out)
}

// readAgain reads the rows of entries of one job by their keys. One whose key had other columns than the configuration names now is not in the ERP any more.
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

// byKey groups rows by their key; rows whose key cannot be read belong to nobody.
func (r *jobRun) byKey(rows []erp.Row) map[string][]erp.Row {
	out := make(map[string][]erp.Row, len(rows))
	for _, row := range rows {
		if key, _, err := rowKey(row, r.job.Spec.Key); err == nil {
			out[key] = append(out[key], row)
		}
	}
	return out
}

func (r *jobRun) lookAt(old trade.Entry, rows []erp.Row, known parents) trade.Entry {
	entry := old
	live := r.job.living(rows)
	switch {
	case len(rows) == 0:
		hold(&entry, trade.CauseVanished, "the row left the ERP between reading and sending; if it stays away it is withdrawn")
	case len(live) == 0:
		hold(&entry, trade.CauseVanished, "the row was cancelled in the ERP before it was sent; if it stays so it is withdrawn")
	case len(live) > 1:
		hold(&entry, trade.CauseDuplicateKey, doubleText(old.Key, len(live)))
	default:
		get := live[0].Get
		hash := r.job.sourceHash(get)
		if hash == old.SourceHash && old.MappedWith == r.eval.mappedWith {
			return entry
		}
		r.eval.evaluate(&entry, r.job.values(get), known)
		entry = applyRemap(old, entry)
		entry.SourceHash = hash
	}
	return entry
}

// lookForTwins asks whether the same content went out already, or goes with an earlier row of the same look. Under a key that still stands in the ERP it is a
// second row of equal content, and goes with a remark; under a key that is gone it is the same contract re-typed, and a person decides.
func (r *jobRun) lookForTwins(ctx context.Context, out *looked) error {
	if len(out.ready) == 0 {
		return nil
	}
	hashes := make([]string, len(out.ready))
	for i, e := range out.ready {
		hashes[i] = e.PayloadHash
	}
	others, err := r.ledger.SameContent(ctx, r.job.Spec.Sends, hashes)
	if err != nil {
		return err
	}
	stands, err := r.standing(ctx, others)
	if err != nil {
		return err
	}
	byHash := map[string][]trade.Entry{}
	for _, o := range others {
		byHash[o.PayloadHash] = append(byHash[o.PayloadHash], o)
	}
	ahead := map[string]bool{} // what is typed twice in a row is looked at together, when neither has gone yet
	ready := out.ready[:0]
	for _, entry := range out.ready {
		twin, gone := ahead[entry.PayloadHash], ""
		ahead[entry.PayloadHash] = true
		for _, o := range byHash[entry.PayloadHash] {
			switch {
			case o.ID == entry.ID:
			case stands[o.ID]:
				twin = true
			default:
				gone = o.Key
			}
		}
		if gone != "" {
			from := entry
			hold(&entry, trade.CauseRetyped, fmt.Sprintf("the same content went out under key %s, which is no longer in the ERP: a re-typed contract must not go twice", gone))
			entry.UpdatedAt = r.Clock.Now()
			out.hold(from, entry)
			continue
		}
		if twin {
			entry.Flags = entry.Flags.With(trade.Twin, true)
		}
		ready = append(ready, entry)
	}
	out.ready = ready
	return nil
}

// hold puts an entry that was ready among the updates, in place of an earlier update of the same entry.
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

// standing tells which entries' keys are in the ERP now, not cancelled. A job that is no longer configured cannot tell, which counts as no.
func (r *jobRun) standing(ctx context.Context, entries []trade.Entry) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, job := range r.Jobs {
		ids := map[string]int64{}
		var mine []trade.Entry
		for _, e := range entries {
			if e.Job == job.Name() {
				ids[e.Key] = e.ID
				mine = append(mine, e)
			}
		}
		rows, err := r.readAgain(ctx, job, mine)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if key, _, err := rowKey(row, job.Spec.Key); err == nil && !job.isCancelled(row.Get) {
				out[ids[key]] = true
			}
		}
	}
	return out, nil
}

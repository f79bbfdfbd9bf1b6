package sync

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// lookAhead takes the last look of a run at the rows that would go, so that a dry run does not promise what the run would hold. Rows of earlier readings are read again, as the run would; of those that
// this reading has just found only those whose content or key the ledger knows, or that equal one another.
func (r *jobRun) lookAhead(ctx context.Context) error {
	ahead := map[trade.Hash][]trade.Entry{} // would go, by the hash of what they send
	for after := int64(0); ; {
		due, err := r.ledger.Due(ctx, r.job.Name(), r.Clock.Now(), after, lookBatch)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			break
		}
		after = due[len(due)-1].ID
		if err := r.lookDry(ctx, slices.DeleteFunc(due, func(e trade.Entry) bool { return r.dry.judged[e.ID] }), ahead); err != nil {
			return err
		}
	}
	ready := slices.DeleteFunc(slices.Clone(r.dry.ready), func(e trade.Entry) bool { return r.dry.fate[hashKey(e.Key)].State != trade.Pending })
	for chunk := range slices.Chunk(ready, lookBatch) {
		mine, err := r.notTaken(ctx, chunk)
		if err != nil {
			return err
		}
		alike, err := r.alike(ctx, mine, ahead)
		if err == nil {
			err = r.lookDry(ctx, alike, ahead)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notTaken holds the rows that another job of this dry run would send under the same key: one of them goes.
func (r *jobRun) notTaken(ctx context.Context, entries []trade.Entry) ([]trade.Entry, error) {
	out := slices.Clone(entries)
	for _, job := range r.Jobs {
		other := r.dry.jobs[job.Name()]
		if job == r.job || other == nil || job.Spec.Sends != r.job.Spec.Sends || job.identity.Space != r.job.identity.Space {
			continue
		}
		kept := out[:0]
		for _, e := range out {
			if _, goes := other.goes[hashKey(e.Key)]; !goes {
				kept = append(kept, e)
				continue
			}
			hold(&e, trade.CauseOtherJob, otherJobText(trade.Elsewhere{Job: job.Name(), Key: e.Key, State: trade.Pending}))
			if err := r.dry.holdBack(ctx, e); err != nil {
				return nil, err
			}
		}
		out = kept
	}
	return out, nil
}

// alike gives those of some rows that a last look may hold, and notes the others as going.
func (r *jobRun) alike(ctx context.Context, entries []trade.Entry, ahead map[trade.Hash][]trade.Entry) ([]trade.Entry, error) {
	sent, err := r.findSent(ctx, entries, nil)
	if err != nil {
		return nil, err
	}
	var taken map[string]trade.Elsewhere
	if !r.alone {
		if taken, err = r.sentElsewhere(ctx, entries); err != nil {
			return nil, err
		}
	}
	var out []trade.Entry
	for _, e := range entries {
		_, elsewhere := taken[e.Key]
		known := slices.ContainsFunc(sent, func(s sentRow) bool {
			return s.sent(e) || s.Entry.SourceHash == e.SourceHash || sameContent(s.Entry.Content, e.Content)
		})
		if equal := len(ahead[e.PayloadHash]) > 0; elsewhere || known || equal && r.job.Spec.Twin.Mode == TwinHold {
			out = append(out, e)
			continue
		}
		ahead[e.PayloadHash] = append(ahead[e.PayloadHash], e)
	}
	return out, nil
}

// lookDry looks at some rows as a run does before it stores their intents, and counts what becomes of them.
func (r *jobRun) lookDry(ctx context.Context, entries []trade.Entry, ahead map[trade.Hash][]trade.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var storing []trade.Entry
	for _, e := range entries {
		storing = append(storing, ahead[e.PayloadHash]...)
	}
	result, err := r.look(ctx, entries, storing)
	if err != nil {
		return err
	}
	r.checkTwins(&result, nil)
	r.dry.parents = nil
	now := map[int64]trade.Entry{}
	for _, u := range result.updates {
		now[u.Entry.ID] = u.Entry
	}
	goes := map[int64]bool{}
	for _, e := range result.ready {
		goes[e.ID] = true
		ahead[e.PayloadHash] = append(ahead[e.PayloadHash], e)
	}
	for _, old := range entries {
		entry, changed := now[old.ID]
		switch {
		case changed && entry.State != trade.Pending:
			err = r.dry.holdBack(ctx, entry)
		case !goes[old.ID]:
			err = r.dry.stay(ctx, old)
		case changed && old.ID > 0 && !r.dry.judged[old.ID]:
			_, err = r.dry.Record(ctx, trade.Lease{}, trade.Page{Updates: []trade.Update{{From: old.State, Entry: entry}}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The recheck of a dry run.

package rehearse

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// pendingParents rechecks the rows of a dry run.
type pendingParents struct {
	run     *run.Run
	recheck *recheck.Checker
}

// lookAhead rechecks the rows that would be sent, so that a dry run does not promise what the run
// would hold. Rows of earlier readings are read again, as the run would do. Of those that this
// reading has just found, it reads only those whose content or key the ledger knows, or that equal
// one another.
func lookAhead(ctx context.Context, d *discovery.Discoverer) error {
	r := &pendingParents{run: d.Run, recheck: d.Recheck}
	ahead := map[int64][]trade.Entry{} // rows that would be sent, by content number
	for after := int64(0); ; {
		due, err := r.run.Ledger.Due(ctx, r.run.Job.Name(), r.run.Env.Clock.Now(), after, recheck.BatchSize)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			break
		}
		after = due[len(due)-1].ID
		if err := r.lookDry(ctx, slices.DeleteFunc(due, func(e trade.Entry) bool { return r.run.Dry.Judged[e.ID] }),
			ahead); err != nil {
			return err
		}
	}
	ready := slices.DeleteFunc(slices.Clone(r.run.Dry.Ready),
		func(e trade.Entry) bool { return r.run.Dry.Fate[run.HashKey(e.Key)].State != trade.Pending })
	for chunk := range slices.Chunk(ready, recheck.BatchSize) {
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

// notTaken holds the rows that another job of this dry run would send under the same key, since
// only one of them is sent; it returns the others.
func (r *pendingParents) notTaken(ctx context.Context, entries []trade.Entry) ([]trade.Entry, error) {
	out := slices.Clone(entries)
	for _, job := range r.run.Env.Jobs {
		other := r.run.Dry.Jobs[job.Name()]
		if job == r.run.Job || other == nil || job.Spec.Sends != r.run.Job.Spec.Sends ||
			job.Identity.Space != r.run.Job.Identity.Space {
			continue
		}
		kept := out[:0]
		for _, e := range out {
			if _, goes := other.Goes[run.HashKey(e.Key)]; !goes {
				kept = append(kept, e)
				continue
			}
			recheck.HoldOtherJob(&e, trade.Elsewhere{Job: job.Name(), Key: e.Key, State: trade.Pending})
			if err := r.run.Dry.HoldBack(ctx, e); err != nil {
				return nil, err
			}
		}
		out = kept
	}
	return out, nil
}

// alike returns the rows that the recheck may hold, and records the others in ahead as rows that
// would be sent.
func (r *pendingParents) alike(ctx context.Context, entries []trade.Entry,
	ahead map[int64][]trade.Entry,
) ([]trade.Entry, error) {
	sent, err := r.recheck.FindSent(ctx, entries, nil)
	if err != nil {
		return nil, err
	}
	var taken map[string]trade.Elsewhere
	if !r.recheck.Alone {
		if taken, err = r.recheck.SentElsewhere(ctx, entries); err != nil {
			return nil, err
		}
	}
	var out []trade.Entry
	for _, e := range entries {
		_, elsewhere := taken[e.Key]
		known := slices.ContainsFunc(sent, func(s recheck.SentRow) bool {
			return s.Sent(e) || s.Entry.SourceHash == e.SourceHash || run.SameContent(s.Entry.Content, e.Content)
		})
		if elsewhere || known || len(ahead[e.Content]) > 0 {
			out = append(out, e)
			continue
		}
		ahead[e.Content] = append(ahead[e.Content], e)
	}
	return out, nil
}

// lookDry rechecks rows as a run does before it stores their intents, and counts the results.
func (r *pendingParents) lookDry(ctx context.Context, entries []trade.Entry, ahead map[int64][]trade.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var storing []trade.Entry
	for _, e := range entries {
		storing = append(storing, ahead[e.Content]...)
	}
	result, err := r.recheck.Recheck(ctx, entries, storing)
	if err != nil {
		return err
	}
	for _, t := range r.recheck.CheckEqualRows(&result, nil) {
		r.run.Report.Twins.Add(trade.LikeRow{
			Key: t.Row.Key, Job: t.Other.Job, Other: t.Other.Key, RemoteID: t.Other.RemoteID,
			Near: t.Near, Held: t.Held,
			Shown: t.Row.Shown, OtherShown: t.Other.Shown,
		})
	}
	r.run.Dry.ForgetParents()
	now := map[int64]trade.Entry{}
	for _, u := range result.Updates {
		now[u.Entry.ID] = u.Entry
	}
	goes := map[int64]bool{}
	for _, e := range result.Ready {
		goes[e.ID] = true
		ahead[e.Content] = append(ahead[e.Content], e)
	}
	for _, old := range entries {
		entry, changed := now[old.ID]
		switch {
		case changed && entry.State != trade.Pending:
			err = r.run.Dry.HoldBack(ctx, entry)
		case !goes[old.ID]:
			err = r.run.Dry.Stay(ctx, old)
		case changed && old.ID > 0 && !r.run.Dry.Judged[old.ID]:
			_, err = r.run.Dry.Record(ctx, trade.Lease{},
				trade.Page{Updates: []trade.Update{{From: old.State, Entry: entry}}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

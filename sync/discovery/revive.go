// Rows that were held because another job had sent their key, and that need not be held any more.

package discovery

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// reviveOthers judges the rows again that were held because another job had sent their key, or
// might have, if that is no longer true: nothing was sent there after all, the entry was moved to
// this job, or the keys are no longer compared. Each is judged as it is in the ERP now.
func (r *Discoverer) reviveOthers(ctx context.Context) error {
	return r.Run.Ledger.HeldFor(ctx, r.Run.Job.Name(), trade.CauseOtherJob, func(held []trade.Entry) error {
		taken, err := r.Recheck.SentElsewhere(ctx, held)
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(e trade.Entry) bool {
			_, still := taken[e.Key]
			return still
		})
		rows, err := r.Run.ReadAgain(ctx, r.Run.Job, held)
		if err != nil {
			return err
		}
		found := run.ByKeyOf(r.Run.Job, rows)
		known, err := r.Run.ParentsOf(ctx, r.Run.ValuesOfRows(found))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range held {
			if c := r.Run.Job.Choose(found[old.Key]); c.Living == 1 {
				entry := old
				r.Run.Eval.Evaluate(&entry, r.Run.Job.Values(c.Row.Get), known)
				entry.Shown = r.Run.Job.Shown(old.Key, c.Row.Get)
				entry.SourceHash, entry.UpdatedAt = r.Run.Job.SourceHash(c.Row.Get), r.Run.Env.Clock.Now()
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		return r.Run.Record(ctx, page)
	})
}

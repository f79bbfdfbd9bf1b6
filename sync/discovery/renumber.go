// New content numbers for what was sent, after the mapping has changed.

package discovery

import (
	"context"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// renumber computes the content numbers of what was sent again, after the mapping has changed.
// Without this, a record that was sent with another value of a field that counts would not be found
// when its row appears under another key. If the ledger has only marks of the values, the ERP's row
// is used, provided it is still the one that was sent. [Discoverer.refillRebuilt] does the same for
// entries that were rebuilt from the journal. A row that cannot be sent under the new mapping keeps
// its number.
func (r *Discoverer) renumber(ctx context.Context) error {
	if r.Run.Dry != nil {
		return nil
	}
	states := []trade.State{trade.Accepted, trade.InDoubt, trade.Held}
	return r.stalePages(ctx, states, func(sent []trade.Entry) error {
		known, err := r.Run.ParentsOf(ctx, mapping.ValuesOf(sent))
		if err != nil {
			return err
		}
		var changed, unread []trade.Entry
		number := func(e trade.Entry, values trade.Values, known mapping.Parents) bool {
			now := e
			r.Run.Eval.Evaluate(&now, values, known)
			if now.Content != 0 && now.Content != e.Content {
				e.Content = now.Content
				changed = append(changed, e)
			}
			return now.Content != 0
		}
		for _, e := range sent {
			if !number(e, e.Values, known) {
				unread = append(unread, e)
			}
		}
		rows, err := r.Run.ReadAgain(ctx, r.Run.Job, unread)
		if err != nil {
			return err
		}
		found := run.ByKeyOf(r.Run.Job, rows)
		if known, err = r.Run.ParentsOf(ctx, r.Run.ValuesOfRows(found)); err != nil {
			return err
		}
		for _, e := range unread {
			if c := r.Run.Job.Choose(found[e.Key]); c.Living == 1 && len(e.Values) > 0 &&
				!r.Run.Eval.Differs(e.Key, e.Values, r.Run.Job.Values(c.Row.Get)) {
				number(e, r.Run.Job.Values(c.Row.Get), known)
			}
		}
		// it may take minutes
		r.Run.Env.Observe(run.Progress{Job: r.Run.Job.Name(), Phase: run.Reading, Read: r.Run.Report.Read})
		return r.Run.Ledger.Renumber(ctx, r.Run.Lease, changed)
	})
}

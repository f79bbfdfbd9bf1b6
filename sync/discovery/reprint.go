// New fingerprints of what was sent, after the mapping has changed.

package discovery

import (
	"context"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// reprint computes the newest fingerprints of what was sent again, after the mapping has changed.
// Without this, a record that was sent with another value of a field that counts would not be found
// when its row appears under another key with other cells. If the ledger has only marks of the
// values, the ERP's row is used, provided it is still the one that was sent. A row that cannot be
// sent under the new mapping keeps its fingerprints.
func (r *Discoverer) reprint(ctx context.Context) error {
	if r.Dry != nil {
		return nil
	}
	states := []trade.State{trade.Accepted, trade.InDoubt, trade.Held, trade.Dismissed, trade.Rejected}
	return r.stalePages(ctx, states, func(sent []trade.Entry) error {
		values := trade.Map(sent, trade.Entry.NewestValues)
		known, err := r.ParentsOf(ctx, values)
		if err != nil {
			return err
		}
		var changed, unread []trade.Entry
		printed := func(e trade.Entry, values trade.Values, known mapping.Parents) bool {
			e.Newest = r.printsOf(values, e.SourceHash, known)
			if e.Newest.Known() {
				changed = append(changed, e)
			}
			return e.Newest.Known()
		}
		for i, e := range sent {
			if e.Flags.Has(trade.Replaced) {
				continue // its key has the row of another record
			}
			if !printed(e, values[i], known) {
				unread = append(unread, e)
			}
		}
		found, err := r.ReadAgain(ctx, r.Job, unread)
		if err != nil {
			return err
		}
		known, err = r.ParentsOf(ctx, mapping.ValuesOfRows(found))
		if err != nil {
			return err
		}
		for _, e := range unread {
			if c := mapping.Choose(found[e.Key]); c.Living == 1 && len(e.Values) > 0 &&
				!r.Eval.Differs(e.Key, e.NewestValues(), c.Row.Values()) {
				printed(e, c.Row.Values(), known)
			}
		}
		// it may take minutes
		r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Reading, Read: r.Report.Read})
		return r.Ledger.Reprint(ctx, r.Lease, changed)
	})
}

package sync

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// renumber counts the content numbers of what was sent anew, after the mapping has changed: without
// this, a record that was sent with another value of a field that counts would not be found when its
// row stands under another key. A row that cannot be sent under the new mapping keeps its number.
func (r *jobRun) renumber(ctx context.Context) error {
	if r.dry != nil {
		return nil
	}
	var sent []trade.Entry
	flush := func() error {
		known, err := r.parentsOf(ctx, valuesOf(sent))
		if err != nil {
			return err
		}
		var changed []trade.Entry
		for _, e := range sent {
			now := e
			r.eval.evaluate(&now, e.Values, known)
			if near := now.PayloadHash.Near; near != 0 && near != e.PayloadHash.Near {
				e.PayloadHash.Near = near
				changed = append(changed, e)
			}
		}
		sent = sent[:0]
		return r.ledger.Renumber(ctx, r.lease, changed)
	}
	states := []trade.State{trade.Accepted, trade.InDoubt, trade.Held}
	err := r.ledger.Stale(ctx, r.job.Name(), r.eval.mappedWith, states, func(e trade.Entry) error {
		if sent = append(sent, e); len(sent) < pageSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

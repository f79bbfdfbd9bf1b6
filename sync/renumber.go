package sync

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// renumber counts the content numbers of what was sent anew, after the mapping has changed: without
// this, a record that was sent with another value of a field that counts would not be found when its
// row stands under another key. Where the ledger has marks of the values only, the ERP's row tells, if
// it is still the one that was sent; of what was rebuilt from the journal, [jobRun.recall] does it. A
// row that cannot be sent under the new mapping keeps its number.
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
		var changed, unread []trade.Entry
		number := func(e trade.Entry, values trade.Values, known parents) bool {
			now := e
			r.eval.evaluate(&now, values, known)
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
		rows, err := r.readAgain(ctx, r.job, unread)
		if err != nil {
			return err
		}
		found := byKeyOf(r.job, rows)
		if known, err = r.parentsOf(ctx, r.valuesOfRows(found)); err != nil {
			return err
		}
		for _, e := range unread {
			if c := r.job.choose(found[e.Key]); c.living == 1 && len(e.Values) > 0 && !r.eval.differs(e.Key, e.Values, r.job.values(c.row.Get)) {
				number(e, r.job.values(c.row.Get), known)
			}
		}
		sent = sent[:0]
		r.Observe(Progress{Job: r.job.Name(), Phase: Reading, Read: r.report.Read}) // it may take minutes
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

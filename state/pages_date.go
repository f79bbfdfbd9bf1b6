package state

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// settled are the states of the rows that two indexes have by the time of their last change:
// entry_body, and entry_reduced for those that retention has reduced.
var settled = []trade.State{trade.Accepted, trade.Dismissed, trade.Withdrawn}

// changedIn adds the condition on the period.
func (p *paging) changedIn(b *branch) {
	if !p.q.From.IsZero() {
		b.add(`e.updated_at >= ?`, p.q.From.UnixMilli())
	}
	if !p.q.Until.IsZero() {
		b.add(`e.updated_at < ?`, p.q.Until.UnixMilli())
	}
}

// date determines whether few rows were changed in the given period.
func (p *paging) date() error {
	if p.q.From.IsZero() && p.q.Until.IsZero() {
		return nil
	}
	n := 0
	for _, reduced := range []string{`e.reduced_at IS NULL`, `e.reduced_at IS NOT NULL`} {
		b := &branch{}
		p.changedIn(b)
		b.add(reduced)
		b.add(isSettled)
		var some int
		query := `SELECT COUNT(*) FROM (` + b.selects(`1`) + ` LIMIT ?) AS found`
		if err := p.s.db.Get(p.ctx, readingPage, &some, query, append(slices.Clone(b.args), fewRows+1)...); err != nil {
			return err
		}
		n += some
	}
	p.dated = n <= fewRows
	return nil
}

// datedBranches returns the statements for rows that were changed in a period: the settled rows by
// time, those that are stuck by their index, and the others, which are few, state by state.
func (p *paging) datedBranches(rest func() *branch) []*branch {
	var out []*branch
	asked := func(s trade.State) bool { return len(p.q.States) == 0 || slices.Contains(p.q.States, s) }
	if slices.ContainsFunc(settled, asked) {
		for _, part := range []struct{ index, reduced string }{
			{"entry_body", `e.reduced_at IS NULL`},
			{"entry_reduced", `e.reduced_at IS NOT NULL`},
		} {
			b := rest()
			b.few = true
			b.from = p.s.db.D.ByIndex(part.index) // the planner would choose the index of all rows
			b.add(part.reduced)
			b.add(isSettled)
			b.ofStates(`e.state || ''`, p.q.States)
			out = append(out, b)
		}
	}
	states := slices.DeleteFunc(slices.Clone(trade.Stuck), func(s trade.State) bool { return !asked(s) })
	if len(states) > 0 {
		b := rest()
		b.few, b.from = true, p.s.db.D.ByStuck // which has every column that a page selects by
		b.add(isStuck)
		b.ofStates(`e.state || ''`, states)
		out = append(out, b)
	}
	for _, state := range []trade.State{trade.Pending, trade.Sending} {
		if asked(state) {
			b := rest()
			b.from = p.s.db.D.ByState
			b.add(`e.state = ?`, string(state))
			out = append(out, b)
		}
	}
	return out
}

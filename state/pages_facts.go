// Lists narrowed by product, producer, branch, day and worth, and what they weigh and are worth.

package state

import (
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// factTest is a condition on a column of the table listing. In its text @ stands for the column.
type factTest struct {
	column, where string
	args          []any
	names         []string // the texts of which the column must have one
}

// namesMost is how many texts of a column may have the part that a person typed. What more have is
// refused: a list of a few of them would look like the whole.
const namesMost = 100

// readFacts makes the conditions of the facts of a query.
func (p *paging) readFacts() error {
	q := p.q.Facts
	for _, name := range []struct{ column, text string }{
		{"producer", q.Producer}, {"branch", q.Branch}, {"product", q.Product},
	} {
		if name.text == "" {
			continue
		}
		names, err := p.namesLike(name.column, name.text)
		if err != nil {
			return err
		}
		p.facts = append(p.facts, factTest{
			name.column, `@ IN (` + sqldb.Placeholders(len(names)) + `)`, sqldb.Anys(names), names,
		})
	}
	bounds := func(column string, from, until any) {
		for _, bound := range []struct {
			than  string
			value any
		}{{`@ >= ?`, from}, {`@ <= ?`, until}} {
			if bound.value != nil {
				p.facts = append(p.facts, factTest{column: column, where: bound.than, args: []any{bound.value}})
			}
		}
	}
	day := func(d trade.Date) any {
		if d.IsZero() {
			return nil
		}
		return trade.ListingDay(d)
	}
	worth := func(d *trade.Decimal) any {
		if d == nil {
			return nil
		}
		return trade.ListingNumber(*d)
	}
	bounds("worth", worth(q.WorthFrom), worth(q.WorthUntil))
	bounds("day", day(q.DayFrom), day(q.DayUntil))
	return nil
}

// namesLike returns the texts of a column that a person means: the one that was typed or, if no row has
// it, those that have it as a part. If none has, the text itself, which selects nothing.
func (p *paging) namesLike(column, text string) ([]string, error) {
	for _, job := range p.q.Jobs {
		var some []int64
		err := p.all(&some, `SELECT entry_id FROM listing WHERE job = ? AND `+column+` = ? LIMIT 1`, job, text)
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			return []string{text}, nil
		}
	}
	names, more, err := p.s.RowNames(p.ctx, trade.RowSort(column), p.q.Jobs, text, namesMost)
	if more {
		return nil, trade.ErrManyNames
	}
	if len(names) == 0 {
		names = []string{text}
	}
	return names, err
}

// RowNames returns the different texts of a column (trade.ByProduct, ByProducer, ByBranch) of some jobs,
// of all if none is named, that have a part in whatever case and with or without accents, in order; at
// most limit. more reports that there are others, or that not all could be looked at.
func (s *Store) RowNames(ctx context.Context, column trade.RowSort, jobs []string, part string, limit int,
) (names []string, more bool, err error) {
	if len(jobs) == 0 {
		jobs, err = s.Jobs(ctx)
		if err != nil {
			return nil, false, err
		}
	}
	name := sortedBy[column]
	most := limit
	if part != "" {
		most = s.db.Tune.Names
	}
	part = Joined(part)
	for _, job := range jobs {
		var some []string
		// each step goes to the next text in the index
		if err := s.db.All(ctx, readingPage, &some, `WITH RECURSIVE name(text) AS (
			SELECT MIN(`+name+`) FROM listing WHERE job = ? UNION ALL
			SELECT (SELECT MIN(`+name+`) FROM listing WHERE job = ? AND `+name+` > name.text) FROM name
				WHERE name.text IS NOT NULL)
			SELECT text FROM name WHERE text IS NOT NULL LIMIT ?`, job, job, most+1); err != nil {
			return nil, false, err
		}
		more = more || len(some) > most
		some = slices.DeleteFunc(some, func(n string) bool { return !strings.Contains(Joined(n), part) })
		names = append(names, some...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), limit)], more || len(names) > limit, nil
}

// byFacts adds the conditions of the facts. Only those of one column may use its index.
func (p *paging) byFacts(b *branch, column string) {
	for _, f := range p.facts {
		name := `l.` + f.column
		if f.column != column {
			name = p.s.db.D.Unindexed(name)
		}
		b.add(strings.ReplaceAll(f.where, "@", name), f.args...)
	}
}

// byName returns the statements for the rows of a job with a name that many have: its index has them in
// id order. nil: there is no name, or the rows are few.
func (p *paging) byName(job string) (out []*branch) {
	i := slices.IndexFunc(p.facts, func(f factTest) bool { return len(f.names) > 0 })
	if i < 0 || p.chosen() {
		return nil
	}
	lead := p.facts[i]
	for _, name := range lead.names {
		b := &branch{lead: true, from: p.s.db.D.ByIndex("listing_" + lead.column)}
		b.add(`l.job = ? AND l.`+lead.column+` = ?`, job, name)
		p.byFacts(b, "")
		p.ofRow(b)
		p.ofEntry(b)
		b.bare = !slices.Contains(b.where, `e.id = l.entry_id`)
		out = append(out, b)
	}
	return out
}

// choose looks for a part of the filter that few rows have: they are read and sorted.
func (p *paging) choose() error {
	column, _ := p.q.Sort.Column()
	if p.chosen() || column == "" && len(p.facts) == 0 {
		return nil
	}
	on := func(from, where string, args ...any) func(string) []*branch {
		return func(job string) []*branch {
			b := &branch{from: from}
			b.add(`e.job = ?`, job)
			b.add(where, args...)
			return []*branch{b}
		}
	}
	var parts []func(job string) []*branch
	for i, f := range p.facts {
		if slices.ContainsFunc(p.facts[:i], func(o factTest) bool { return o.column == f.column }) {
			continue // both bounds are one part
		}
		parts = append(parts, func(job string) []*branch {
			b := &branch{lead: true, bare: true, from: p.s.db.D.ByIndex("listing_" + f.column)}
			b.add(`l.job = ?`, job)
			for _, o := range p.facts {
				if o.column == f.column {
					b.add(strings.ReplaceAll(o.where, "@", `l.`+f.column), o.args...)
				}
			}
			return []*branch{b}
		})
	}
	if n := len(p.q.Causes); n > 0 {
		parts = append(parts, on(``, `e.cause <> '' AND e.cause IN (`+sqldb.Placeholders(n)+`)`, sqldb.Anys(p.q.Causes)...))
	}
	if len(p.q.Flags) > 0 {
		parts = append(parts, on(p.s.db.D.ByFlags, `e.flags <> '[]'`))
	}
	if !p.q.From.IsZero() || !p.q.Until.IsZero() {
		parts = append(parts, func(job string) []*branch {
			return p.datedBranches(func() *branch {
				b := &branch{}
				b.add(`e.job = ?`, job)
				p.changedIn(b)
				return b
			})
		})
	}
	if n := len(p.q.States); n > 0 {
		parts = append(parts, on(p.s.db.D.ByState, `e.state IN (`+sqldb.Placeholders(n)+`)`, sqldb.Anys(p.q.States)...))
	} else {
		parts = append(parts, on(p.s.db.D.ByState, `1 = 1`))
	}
	for _, part := range parts {
		few, err := p.onlyFew(part)
		if err != nil || few {
			return err
		}
	}
	return nil
}

// onlyFew keeps the rows of a part of the filter if they are few.
func (p *paging) onlyFew(part func(job string) []*branch) (bool, error) {
	ids := []int64{}
	for _, job := range p.q.Jobs {
		for _, b := range part(job) {
			var some []int64
			if err := p.all(&some, b.selects(b.id())+` LIMIT ?`,
				append(slices.Clone(b.args), p.s.db.Tune.Few+1-len(ids))...); err != nil {
				return false, err
			}
			ids = append(ids, some...)
			if len(ids) > p.s.db.Tune.Few {
				return false, nil
			}
		}
	}
	p.few = ids
	return true, nil
}

// RowSums returns the sums of the rows that a query selects, by job. If these may be many, which takes
// a second for each million, it returns nil unless whole is true.
func (s *Store) RowSums(ctx context.Context, q trade.RowQuery, whole bool) (map[string]trade.Sums, error) {
	q.Sort, q.After = trade.ByDay, "" // so that few rows are found by any part of the filter
	p, err := s.paging(ctx, summing, q)
	switch {
	case err == nil && len(p.q.Jobs) == 0:
		return map[string]trade.Sums{}, nil
	case err != nil || !p.chosen() && !whole:
		return nil, err
	}
	b := &branch{lead: true}
	if p.chosen() {
		b.lead = false
		b.withListing()
	}
	// of many rows it is faster to read all than to look up each
	b.add(s.db.D.Unindexed(`l.job`)+` IN (`+sqldb.Placeholders(len(p.q.Jobs))+`)`, sqldb.Anys(p.q.Jobs)...)
	p.byFacts(b, "")
	p.ofRow(b)
	p.ofEntry(b)
	b.bare = b.lead && !slices.Contains(b.where, `e.id = l.entry_id`)
	var rows []struct {
		Job, Currency      string
		N, Weighed, Valued int
		Kg, Worth          int64
	}
	if err := p.all(&rows, b.selects(`l.job, l.currency, COUNT(*) AS n, COUNT(l.kilograms) AS weighed, COUNT(l.worth) AS valued,
		CAST(COALESCE(SUM(l.kilograms), 0) AS BIGINT) AS kg, CAST(COALESCE(SUM(l.worth), 0) AS BIGINT) AS worth`)+
		` GROUP BY l.job, l.currency`, b.args...); err != nil {
		return nil, s.db.Fault(ctx, summing, err)
	}
	out := make(map[string]trade.Sums, len(p.q.Jobs))
	for _, job := range p.q.Jobs {
		out[job] = trade.Sums{}
	}
	for _, r := range rows {
		sums := trade.Sums{Rows: r.N, Unweighed: r.N - r.Weighed, Kilograms: trade.ListingDecimal(r.Kg)}
		if r.Valued > 0 {
			sums.Values = map[string]trade.Decimal{r.Currency: trade.ListingDecimal(r.Worth)}
		}
		sums.Join(out[r.Job])
		out[r.Job] = sums
	}
	return out, nil
}

const summing = "adding up rows"

package state

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const readingPage = "reading a page of rows"

// RowPage returns one page of the rows that match a query. The states of the parents of waiting
// rows are the present ones. Every kind of query uses an index, from the last row of the page
// before, so every page takes the same time. A text is searched in the words of each row.
func (s *Store) RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error) {
	p, err := s.paging(ctx, readingPage, q)
	if err != nil {
		return trade.RowPage{}, err
	}
	ids, page, err := p.ids()
	if err != nil || len(ids) == 0 {
		return page, s.db.Fault(ctx, readingPage, err)
	}
	page.Rows, err = s.entriesInOrder(ctx, ids)
	return page, err
}

// entriesInOrder returns entries in the order of their ids here, with the present states of the parents
// of waiting rows.
func (s *Store) entriesInOrder(ctx context.Context, ids []int64) ([]trade.Entry, error) {
	entries, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(entries, func(a, b trade.Entry) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	return entries, s.fillParentStates(ctx, entries)
}

// RowKeys returns the jobs and keys of the rows that match a query, at most its limit; more reports that
// there are further ones.
func (s *Store) RowKeys(ctx context.Context, q trade.RowQuery) (keys []trade.ParentKey, more bool, err error) {
	p, err := s.paging(ctx, readingPage, q)
	if err != nil {
		return nil, false, err
	}
	ids, page, err := p.ids()
	if err != nil || len(ids) == 0 {
		return nil, false, s.db.Fault(ctx, readingPage, err)
	}
	err = p.all(&keys, `SELECT job, key FROM entry WHERE `+s.db.D.Among("id"), sqldb.ListOf(s.db.D, ids))
	return keys, page.Next != "", s.db.Fault(ctx, readingPage, err)
}

// ids returns the ids of the page, in order.
func (p *paging) ids() (ids []int64, page trade.RowPage, err error) {
	if len(p.q.Jobs) == 0 {
		return nil, page, nil
	}
	if column, _ := p.q.Sort.Column(); column != "" {
		ids, page.Next, err = p.byColumn()
		return ids, page, err
	}
	if p.q.Sort == trade.ByKey {
		ids, err = p.byKey()
	} else {
		ids, err = p.byNumber()
	}
	if err == nil && len(ids) > p.q.Limit {
		ids = ids[:p.q.Limit]
		page.Next = strconv.FormatInt(ids[len(ids)-1], 10)
	}
	return ids, page, err
}

// paging is the search for the ids of one page.
type paging struct {
	s     *Store
	ctx   context.Context
	q     trade.RowQuery
	after int64 // the last row of the page before; 0 = this is the first page

	afterJob, afterKey string  // of that row, if sorted by key
	says               *branch // the condition that a row is found by the text
	found              []int64 // the rows that the text finds; nil: there is no text, or too many have it
	few                []int64 // the rows of another part of the filter that few rows have; nil: no part is so
	facts              []factTest
	dated              bool // few rows were changed in the given period
}

// paging prepares the search for the rows that match a query: in all jobs, if it names none. In an empty
// ledger there are none.
func (s *Store) paging(ctx context.Context, op string, q trade.RowQuery) (p *paging, err error) {
	if len(q.Jobs) == 0 {
		q.Jobs, err = s.Jobs(ctx)
	}
	p = &paging{s: s, ctx: ctx, q: q, few: q.IDs}
	if q.Of != (trade.Selection{}) && q.IDs == nil { // nobody said which rows these are
		p.few = []int64{}
	}
	if err == nil && len(q.Jobs) > 0 {
		err = p.start()
	}
	return p, s.db.Fault(ctx, op, err)
}

// chosen reports whether the rows that may match are few and known.
func (p *paging) chosen() bool { return p.found != nil || p.few != nil }

// start determines where the page begins, and how the text is to be searched.
func (p *paging) start() error {
	if column, _ := p.q.Sort.Column(); p.q.After != "" && column == "" {
		n, err := strconv.ParseInt(p.q.After, 10, 64)
		if err != nil {
			return phrase.Errorf("no page begins after %q", p.q.After)
		}
		p.after = n
	}
	if p.after > 0 && p.q.Sort == trade.ByKey {
		var row struct {
			Job, Key string
		}
		if err := p.s.db.Get(p.ctx, readingPage, &row, `SELECT job, key FROM entry WHERE id = ?`, p.after); err != nil {
			return err
		}
		p.afterJob, p.afterKey = row.Job, row.Key
	}
	if err := p.readFacts(); err != nil {
		return err
	}
	look := p.date
	if p.q.Text != "" {
		look = p.interpret
	}
	if err := look(); err != nil {
		return err
	}
	return p.choose()
}

// byNumber returns ids in id order, ascending or descending. For each job and each state or cause
// it reads as many ids as the page can hold, and takes the first of all.
func (p *paging) byNumber() ([]int64, error) {
	order, beyond := "DESC", "<"
	if p.q.Sort == trade.OldestFirst {
		order, beyond = "", ">"
	}
	var ids []int64
	for _, job := range p.q.Jobs {
		for _, b := range p.branches(job, false) {
			if p.after > 0 {
				b.add(b.id()+` `+beyond+` ?`, p.after)
			}
			sorted := b.id() + ` `
			if b.few { // no index has them in this order: the few rows are sorted
				sorted = `e.id + 0 `
			}
			some, err := p.pick(b, `ORDER BY `+sorted+order)
			if err != nil {
				return nil, err
			}
			ids = append(ids, some...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if p.q.Sort != trade.OldestFirst {
		slices.Reverse(ids)
	}
	return ids[:min(len(ids), p.q.Limit+1)], nil
}

// byKey returns ids job by job, each in key order.
func (p *paging) byKey() ([]int64, error) {
	jobs := p.q.Jobs
	if p.after > 0 {
		jobs = jobs[max(0, slices.Index(jobs, p.afterJob)):]
	}
	var ids []int64
	for _, job := range jobs {
		many, err := p.many(job)
		if err != nil {
			return nil, err
		}
		many = many && !p.chosen()
		b := p.branches(job, many)
		if p.after > 0 && job == p.afterJob {
			b[0].add(`e.key > ?`, p.afterKey)
		}
		order := `ORDER BY e.key`
		if !many { // no index has them in this order: the few rows are sorted
			order = `ORDER BY e.key || ''`
			switch {
			case p.chosen(): // the text selects rows better than the states do
			case !slices.ContainsFunc(p.q.States, func(s trade.State) bool { return !slices.Contains(trade.Stuck, s) }):
				b[0].from = p.s.db.D.ByStuck
				b[0].add(isStuck)
			default:
				b[0].from = p.s.db.D.ByState
			}
		}
		some, err := p.pick(b[0], order)
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
		if len(ids) > p.q.Limit {
			return ids[:p.q.Limit+1], nil
		}
	}
	return ids, nil
}

// fewRows is the number of rows in the queried states up to which they are looked up and sorted. If
// there are more, a scan in order is faster.
const fewRows = 20_000

// many reports whether so many rows of a job are in the queried states that a scan by key finds a
// page quickly.
func (p *paging) many(job string) (bool, error) {
	if len(p.q.States) == 0 {
		return true, nil
	}
	tallies, err := p.s.Counts(p.ctx, job)
	return trade.RowsIn(tallies, p.q.States...) > fewRows, err
}

// branch is one statement of the search.
type branch struct {
	where []string
	args  []any
	few   bool   // the rows are found by another index than that of the ids
	from  string // an index that the planner would not choose; "" = none

	listing bool // what lists are narrowed by is read as well
	lead    bool // it is read first, in the order of the index
	bare    bool // and it is all that is read
}

// id returns the number of the row, in the table that has it in order.
func (b *branch) id() string {
	if b.lead {
		return `l.entry_id`
	}
	return `e.id`
}

// tables returns the tables of the statement, in the order in which they are to be read.
func (b *branch) tables() string {
	switch {
	case b.bare:
		return `listing l ` + b.from
	case b.lead:
		return `listing l ` + b.from + `CROSS JOIN entry e `
	case b.listing:
		return `entry e ` + b.from + `CROSS JOIN listing l `
	}
	return `entry e ` + b.from
}

// withListing adds what lists are narrowed by to a statement that reads rows.
func (b *branch) withListing() {
	if !b.listing {
		b.listing = true
		b.add(`l.entry_id = e.id`)
	}
}

func (b *branch) add(condition string, args ...any) {
	b.where = append(b.where, condition)
	b.args = append(b.args, args...)
}

// branches returns the statements that together find the rows of a job: one for each cause or
// state, since an index has each of them in id order. Sorted by key there is one statement. In
// that, if many rows are in the states, an expression hides the states from the planner.
func (p *paging) branches(job string, hidden bool) []*branch {
	rest := func() *branch {
		b := &branch{}
		b.add(`e.job = ?`, job)
		p.narrow(b)
		return b
	}
	column := `e.state`
	if hidden {
		column = `e.state || ''`
	}
	if p.q.Sort == trade.ByKey {
		b := rest()
		b.ofStates(column, p.q.States)
		b.ofCauses(p.q.Causes)
		return []*branch{b}
	}
	if p.dated && len(p.q.Causes)+len(p.q.Flags) == 0 && !p.chosen() {
		return p.datedBranches(rest)
	}
	if b := p.byName(job); b != nil {
		return b
	}
	var out []*branch
	for _, cause := range p.q.Causes {
		b := rest()
		b.add(`e.cause <> '' AND e.cause = ?`, cause)
		b.ofStates(column, p.q.States)
		out = append(out, b)
	}
	for _, state := range p.q.States {
		if len(p.q.Causes) > 0 {
			break
		}
		b := rest()
		b.add(`e.state = ?`, string(state))
		out = append(out, b)
	}
	if out == nil {
		out = append(out, rest())
	}
	for _, b := range out {
		b.few = p.chosen()
	}
	return out
}

// narrow adds the conditions of every statement that reads rows.
func (p *paging) narrow(b *branch) {
	p.ofRow(b)
	if len(p.facts) > 0 {
		b.withListing()
		p.byFacts(b, "")
	}
}

// ofEntry adds the conditions on states and causes.
func (p *paging) ofEntry(b *branch) {
	b.ofStates(`e.state`, p.q.States)
	b.ofCauses(p.q.Causes)
}

// ofStates adds that the column has one of the states, if any are given.
func (b *branch) ofStates(column string, states []trade.State) {
	if len(states) > 0 {
		b.add(column+` IN (`+sqldb.Placeholders(len(states))+`)`, sqldb.Anys(states)...)
	}
}

func (b *branch) ofCauses(causes []string) {
	if len(causes) > 0 {
		b.add(`e.cause <> '' AND e.cause IN (`+sqldb.Placeholders(len(causes))+`)`, sqldb.Anys(causes)...)
	}
}

func (b *branch) ofFlags(flags []trade.Flag) {
	if len(flags) == 0 {
		return
	}
	values := trade.Map(flags, func(f trade.Flag) any { return `%"` + string(f) + `"%` })
	b.add(`e.flags <> '[]' AND (e.flags LIKE ?`+strings.Repeat(` OR e.flags LIKE ?`, len(flags)-1)+`)`, values...)
}

// condition returns the condition of a statement.
func (b *branch) condition() string { return `WHERE ` + strings.Join(b.where, " AND ") }

// selects returns the statement that reads columns of the rows.
func (b *branch) selects(columns string) string {
	return `SELECT ` + columns + ` FROM ` + b.tables() + b.condition()
}

// ofRow adds the conditions on flags, period and text, and the rows that were chosen.
func (p *paging) ofRow(b *branch) {
	if b.lead && len(p.q.Flags) == 0 && p.q.From.IsZero() && p.q.Until.IsZero() && p.q.Text == "" &&
		len(p.q.States)+len(p.q.Causes) == 0 {
		return
	}
	if b.lead {
		b.add(`e.id = l.entry_id`)
	}
	if p.few != nil {
		b.add(p.s.db.D.Among("e.id"), sqldb.ListOf(p.s.db.D, p.few))
	}
	b.ofFlags(p.q.Flags)
	p.changedIn(b)
	switch {
	case p.q.Text == "":
	case p.found == nil: // too many for a list of them
		b.where, b.args = append(b.where, p.says.where...), append(b.args, p.says.args...)
	default:
		b.add(p.s.db.D.Among("e.id"), sqldb.ListOf(p.s.db.D, p.found))
	}
}

func (p *paging) all(dest any, query string, args ...any) error {
	return p.s.db.All(p.ctx, readingPage, dest, query, args...)
}

func (p *paging) pick(b *branch, order string) (ids []int64, err error) {
	err = p.all(&ids, b.selects(b.id())+` `+order+` LIMIT ?`, append(slices.Clone(b.args), p.q.Limit+1)...)
	return ids, err
}

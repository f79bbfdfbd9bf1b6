// A cause with the rows that it keeps, and the causes of a list of rows.

package pending

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// View is what keeps the rows of the ledger from going, at one moment.
type View struct {
	At     time.Time
	Groups []*Group // those that block the most rows first
	Moving int      // rows whose parents are on their way: nobody need do anything
	// codes that the de-para lacks, with what each keeps; those of a kind are followed by its total
	Short []trade.Shortage
}

// Group is one cause with all rows that it keeps from going. It is one task for a person, however
// many rows there are.
type Group struct {
	Key     string
	State   trade.State // of the rows with the cause; waiting only if all of them wait
	Cause   string      // as in trade.Entry
	Problem *trade.Problem
	Awaited *trade.Awaited // the parent, if the rows wait for one that has no group here
	Own     []Part         // rows that have the cause themselves
	Behind  int            // rows that wait for those
	Sums    []Sum          // of all these rows; of a list by product alone
	// codes or values to blame, the most frequent first; of a board at most subjectsShown
	Subjects []Subject
	Codes    int       // how many codes or values there are in all
	Keys     []string  // keys of the first few rows of a list
	Oldest   time.Time // when the first of them was first seen

	subjects map[string]*Subject
	sums     map[SumKey]*Sum
}

func newGroup(key string, awaited *trade.Awaited) *Group {
	return &Group{Key: key, Awaited: awaited, subjects: map[string]*Subject{}, sums: map[SumKey]*Sum{}}
}

// Rows counts the rows that the group keeps from going.
func (g Group) Rows() int {
	n := g.Behind
	for _, p := range g.Own {
		n += p.Rows
	}
	return n
}

// Advice returns what the cause means, who can cure it and how.
func (g Group) Advice(lang trade.Lang) trade.Advice {
	return trade.ExplainTask(g.State, g.Cause, g.Problem, g.Awaited, lang)
}

// Part is the rows of one job in one state.
type Part struct {
	Job   string
	State trade.State
	Rows  int
	Retry int // rows that a person can have retried at once
}

// SumKind are rows that are summed together: of one kind of record, either those that have the
// cause themselves or those behind them.
type SumKind struct {
	trade.Pile
	Behind bool
}

// name names the rows in a [trade.Selection].
func (k SumKind) name() string {
	name := k.Pile.Name()
	if k.Behind {
		name += " behind"
	}
	return name
}

// SumKey is what is summed together.
type SumKey struct {
	SumKind
	Product string // "" if neither the record nor its contract has one
}

// Sum is grain of one product.
type Sum struct {
	SumKey
	trade.Sums
}

// KindSum are the rows of a group of one kind.
type KindSum struct {
	SumKind
	trade.Figure
	Sums []Sum // by product
}

// Kinds returns the sums of the group by kind, each with the query of its rows.
func (g Group) Kinds() []KindSum {
	var out []KindSum
	for _, s := range g.Sums {
		i := len(out) - 1
		if i < 0 || out[i].SumKind != s.SumKind {
			i++
			out = append(out, KindSum{SumKind: s.SumKind})
			out[i].Of.Of = trade.Selection{Group: g.Key, Kind: s.name()}
		}
		out[i].Join(s.Sums)
		out[i].Sums = append(out[i].Sums, s)
	}
	return out
}

// Subject is a code or value of the ERP, with the number of rows that it keeps itself.
type Subject struct {
	Text   string
	Rows   int
	Sample []int64 // ids of a few of those rows
}

const (
	subjectsShown = 20
	keysKept      = 3 // of a list
)

// addOwn counts a row that has the cause itself.
func (g *Group) addOwn(job string, state trade.State, subject string, id int64, retry bool) {
	i := slices.IndexFunc(g.Own, func(p Part) bool { return p.Job == job && p.State == state })
	if i < 0 {
		i, g.Own = len(g.Own), append(g.Own, Part{Job: job, State: state})
	}
	g.Own[i].Rows++
	if retry {
		g.Own[i].Retry++
	}
	if g.State == "" || g.State == trade.Waiting {
		g.State = state // rows that wait for a platform record follow the row that asked for it
	}
	if subject == "" {
		return
	}
	s := g.subjects[subject]
	if s == nil {
		subject = strings.Clone(subject) // it may be part of a row, all of which it would keep in memory
		s = &Subject{Text: subject}
		g.subjects[subject] = s
	}
	s.Rows, s.Sample = s.Rows+1, trade.SampleOf(s.Sample, id)
}

// add counts the figures of a row that was first seen at a time.
func (g *Group) add(of SumKey, figures trade.Figures, seen time.Time) {
	if g.Oldest.IsZero() || seen.Before(g.Oldest) {
		g.Oldest = seen
	}
	if g.sums[of] == nil {
		g.sums[of] = &Sum{SumKey: of}
	}
	g.sums[of].Add(figures)
}

// sort sorts the parts of a group.
func (g *Group) sort() {
	slices.SortFunc(g.Own, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job),
			cmp.Compare(slices.Index(trade.States, a.State), slices.Index(trade.States, b.State)))
	})
	g.Sums = trade.ValuesOf(g.sums)
	slices.SortFunc(g.Sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(slices.Index(trade.Kinds, a.Kind), slices.Index(trade.Kinds, b.Kind)),
			trade.CompareBool(a.Fixing, b.Fixing), trade.CompareBool(a.Behind, b.Behind),
			cmp.Compare(a.Product, b.Product))
	})
	g.Subjects = trade.ValuesOf(g.subjects)
	slices.SortFunc(g.Subjects, func(a, b Subject) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Text, b.Text))
	})
	g.Codes = len(g.Subjects)
}

// Causes groups the rows of a list by the cause that they have themselves, also if that is a
// parent. It keeps the groups, not the rows.
type Causes struct {
	specs  map[string]mapping.JobSpec
	byKey  map[string]*Group
	groups []*Group
}

// NewCauses returns an empty set of groups for the rows of some jobs.
func NewCauses(jobs []mapping.JobSpec) *Causes {
	c := &Causes{specs: map[string]mapping.JobSpec{}, byKey: map[string]*Group{}}
	for _, spec := range jobs {
		c.specs[spec.Name] = spec
	}
	return c
}

// Add counts a row and returns its group. A row is in one group only, by its first problem, so that
// the groups add up to the number of rows.
func (c *Causes) Add(e trade.Entry) *Group {
	key, problem := CauseOf(e)
	g := c.byKey[key]
	if g == nil {
		g = newGroup(key, ParentOf(e))
		g.Cause, g.Problem = e.Cause, problem
		c.byKey[key] = g
		c.groups = append(c.groups, g)
	}
	if g.Awaited != nil && g.Awaited.ParentState == trade.Waiting {
		g.Awaited = ParentOf(e) // it is that of the row which asked for a platform record
	}
	if len(g.Keys) < keysKept {
		g.Keys = append(g.Keys, e.Key)
	}
	spec, amount := c.specs[e.Job], e.Quantity.Amount
	g.addOwn(e.Job, e.State, subjectOf(e, problem, spec), e.ID, false)
	g.add(SumKey{Product: productOf(e, spec)}, trade.Figures{Amount: &amount, Unit: e.Quantity.Unit}, e.FirstSeenAt)
	return g
}

// Sorted returns the groups, those with the most rows first.
func (c *Causes) Sorted() []*Group {
	for _, g := range c.groups {
		g.sort()
	}
	slices.SortStableFunc(c.groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Rows(), a.Rows()), cmp.Compare(a.Cause, b.Cause))
	})
	return c.groups
}

// A view of the board at one moment.

package pending

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

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

// Group is one cause with all rows that it keeps from going.
type Group struct {
	Key     string
	State   trade.State // of the rows with the cause; waiting only if all of them wait
	Cause   string      // as in trade.Entry
	Problem *trade.Problem
	Awaited *trade.Awaited // the parent, if it has no group but will not go by itself
	Own     []Part         // rows that have the cause themselves
	Behind  int            // rows that wait for those
	Sums    []Sum          // of all these rows
	// codes or values to blame, the most frequent first, at most subjectsShown
	Subjects []Subject
	Codes    int       // how many codes or values there are in all
	Samples  []int64   // ids of the first few rows
	Oldest   time.Time // when the first of them was first seen
}

// Rows counts the rows that the group keeps from going.
func (g *Group) Rows() int {
	n := g.Behind
	for _, p := range g.Own {
		n += p.Rows
	}
	return n
}

// Part is the rows of one job in one state.
type Part struct {
	Job   string
	State trade.State
	Rows  int
	Retry int // rows that a person can have retried at once
}

// Sum is grain of one product in one kind of record. Fixations are summed separately from
// contracts, because they are the same grain.
type Sum struct {
	Kind      trade.Kind
	Fixing    bool
	Product   string // "" if neither the record nor its contract has one
	Rows      int
	Kilograms trade.Decimal
	Unweighed int // rows without a readable amount or unit
	Values    []Money
	Unpriced  int // contracts without a price
}

// Money is an amount of one currency.
type Money struct {
	Currency string
	Amount   trade.Decimal
}

// Subject is a code or value of the ERP, with the number of rows that it keeps itself.
type Subject struct {
	Text   string
	Rows   int
	Sample []int64 // ids of a few of those rows
}

const (
	subjectsShown = 20
	samplesKept   = 5
)

// building is a group while it is being summed.
type building struct {
	Group
	parts    map[Part]*Part // by job and state
	sums     map[sumKey]*Sum
	subjects map[string]*Subject
}

type sumKey struct {
	kind    trade.Kind
	fixing  bool
	product string
}

func (b *building) own(f *fact) {
	k := Part{Job: f.job.Name(), State: f.state}
	if b.parts[k] == nil {
		b.parts[k] = &Part{Job: k.Job, State: k.State}
	}
	b.parts[k].Rows++
	if f.retry {
		b.parts[k].Retry++
	}
	if b.State == "" || b.State == trade.Waiting {
		b.State = f.state
	}
	if f.subject != "" {
		s := b.subjects[f.subject]
		if s == nil {
			s = &Subject{Text: f.subject}
			b.subjects[f.subject] = s
		}
		s.Rows, s.Sample = s.Rows+1, trade.SampleOf(s.Sample, f.id)
	}
}

func (b *building) add(f *fact, product string) {
	if b.Oldest.IsZero() || f.seen.Before(b.Oldest) {
		b.Oldest = f.seen
	}
	k := sumKey{f.job.Spec.Sends, f.fixing, product}
	s := b.sums[k]
	if s == nil {
		s = &Sum{Kind: k.kind, Fixing: k.fixing, Product: k.product}
		b.sums[k] = s
	}
	s.Rows++
	if f.weighed {
		s.Kilograms = s.Kilograms.Add(f.kg)
	} else {
		s.Unweighed++
	}
	if k.kind != trade.OrderCommitments {
		return
	}
	if f.currency == "" {
		s.Unpriced++
		return
	}
	i := slices.IndexFunc(s.Values, func(m Money) bool { return m.Currency == f.currency })
	if i < 0 {
		i = len(s.Values)
		s.Values = append(s.Values, Money{Currency: f.currency})
	}
	s.Values[i].Amount = s.Values[i].Amount.Add(f.value)
}

func (b *building) done() *Group {
	g := &b.Group
	for _, p := range b.parts {
		g.Own = append(g.Own, *p)
	}
	slices.SortFunc(g.Own, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job),
			cmp.Compare(slices.Index(trade.States, a.State), slices.Index(trade.States, b.State)))
	})
	for _, s := range b.sums {
		slices.SortFunc(s.Values, func(a, b Money) int { return strings.Compare(a.Currency, b.Currency) })
		g.Sums = append(g.Sums, *s)
	}
	slices.SortFunc(g.Sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(slices.Index(trade.Kinds, a.Kind), slices.Index(trade.Kinds, b.Kind)),
			compareBool(a.Fixing, b.Fixing), cmp.Compare(a.Product, b.Product))
	})
	for _, text := range slices.Sorted(maps.Keys(b.subjects)) {
		g.Subjects = append(g.Subjects, *b.subjects[text])
	}
	slices.SortStableFunc(g.Subjects, func(a, b Subject) int { return cmp.Compare(b.Rows, a.Rows) })
	g.Codes = len(g.Subjects)
	g.Subjects = g.Subjects[:min(len(g.Subjects), subjectsShown)]
	return g
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

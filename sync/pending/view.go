// A view of the board at one moment.

package pending

import (
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
func (g Group) Rows() int {
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

// Of returns the query of the rows of a part of the group with a key.
func (p Part) Of(key string) trade.RowQuery {
	return trade.RowQuery{Jobs: []string{p.Job}, States: []trade.State{p.State}, Of: trade.Selection{Group: key}}
}

// Sum is grain of one product in one kind of record. Fixations are summed separately from
// contracts, because they are the same grain, and what waits for other rows apart from these.
type Sum struct {
	Kind    trade.Kind
	Fixing  bool
	Behind  bool
	Product string // "" if neither the record nor its contract has one
	trade.Sums
	Unpriced int // contracts without a price
}

// KindSum are the rows of a group of one kind.
type KindSum struct {
	Kind   trade.Kind
	Fixing bool
	Behind bool
	trade.Figure
	Sums []Sum // by product
}

// Kinds returns the sums of the group by kind, each with the query of its rows.
func (g Group) Kinds() []KindSum {
	var out []KindSum
	for _, s := range g.Sums {
		i := len(out) - 1
		if i < 0 || out[i].Kind != s.Kind || out[i].Fixing != s.Fixing || out[i].Behind != s.Behind {
			i++
			out = append(out, KindSum{Kind: s.Kind, Fixing: s.Fixing, Behind: s.Behind})
			out[i].Of.Of = trade.Selection{Group: g.Key, Kind: kindName(s.Kind, s.Fixing, s.Behind)}
		}
		out[i].Join(s.Sums)
		out[i].Sums = append(out[i].Sums, s)
	}
	return out
}

// kindName names rows of a kind in a [trade.Selection].
func kindName(kind trade.Kind, fixing, behind bool) string {
	name := string(kind)
	if fixing {
		name += " fixing"
	}
	if behind {
		name += " behind"
	}
	return name
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
	kind           trade.Kind
	fixing, behind bool
	product        string
}

// sums returns what the row adds to sums.
func (f *fact) sums() trade.Sums {
	out := trade.Sums{Rows: 1}
	if f.weighed {
		out.Kilograms = f.kg
	} else {
		out.Unweighed = 1
	}
	if f.currency != "" {
		out.Values = map[string]trade.Decimal{f.currency: f.value}
	}
	return out
}

// Rows grouped by what keeps them, together with those that wait for them.

package pending

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// deepest is the longest chain of waiting rows that is followed: a traceability record waits for a
// delivery, which waits for a contract; the rest is reserve.
const deepest = 8

// stuckOn is the cause that finally keeps a row.
type stuckOn struct {
	key     string // of the group; "" = nothing that a person must do
	awaited *trade.Awaited
	product string // of the row's contract
}

// grouping makes groups of the facts of a board.
type grouping struct {
	board   *Board
	outside map[trade.ParentKey]trade.Parent // parents that are not stuck themselves
	groups  map[string]*building
	moving  int
}

func (b *Board) group(ctx context.Context, refs map[string]map[string]string) (*View, error) {
	g := &grouping{board: b, groups: map[string]*building{}}
	short := lacking{board: b, have: refs, sums: map[code]*trade.Shortage{}}
	var err error
	seen := map[trade.ParentKey]bool{}
	var outside []trade.ParentKey // parents that are not stuck themselves, of rows without a cause of their own
	for _, f := range b.facts {
		if f.group != "" {
			continue
		}
		for _, p := range f.parents {
			if key := p.ParentKey; b.keys[key] == nil && !seen[key] {
				seen[key] = true
				outside = append(outside, key)
			}
		}
	}
	g.outside, err = b.Ledger.Parents(ctx, outside)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(b.facts)) { // in a fixed order, so that the samples do not change
		f := b.facts[id]
		on := g.add(f)
		// once for each code that it lacks, and once for each of their kinds
		codes := short.missing(f)
		for i, c := range codes {
			short.count(c, f, on)
			if i == 0 || codes[i-1].kind != c.kind {
				short.count(code{kind: c.kind}, f, on)
			}
			if slices.Contains(f.codes, c) {
				short.sums[c].Sample = trade.SampleOf(short.sums[c].Sample, f.id)
			}
		}
	}
	list := trade.ValuesOf(short.sums)
	slices.SortFunc(list, func(a, b trade.Shortage) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), trade.CompareBool(a.Code == "", b.Code == ""),
			b.Rows()-a.Rows(), trade.CompareCodes(a.Code, b.Code))
	})
	view := &View{At: b.Now(), Moving: g.moving, Short: list}
	for _, one := range g.groups {
		group := &one.Group
		group.Own = trade.ValuesOf(one.parts)
		slices.SortFunc(group.Own, func(a, b Part) int {
			return cmp.Or(cmp.Compare(a.Job, b.Job),
				cmp.Compare(slices.Index(trade.States, a.State), slices.Index(trade.States, b.State)))
		})
		group.Sums = trade.ValuesOf(one.sums)
		slices.SortFunc(group.Sums, func(a, b Sum) int {
			return cmp.Or(cmp.Compare(slices.Index(trade.Kinds, a.Kind), slices.Index(trade.Kinds, b.Kind)),
				trade.CompareBool(a.Fixing, b.Fixing), trade.CompareBool(a.Behind, b.Behind),
				cmp.Compare(a.Product, b.Product))
		})
		group.Subjects = trade.ValuesOf(one.subjects)
		slices.SortFunc(group.Subjects, func(a, b Subject) int {
			return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Text, b.Text))
		})
		group.Codes = len(group.Subjects)
		group.Subjects = group.Subjects[:min(len(group.Subjects), subjectsShown)]
		view.Groups = append(view.Groups, group)
	}
	slices.SortFunc(view.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Rows(), a.Rows()), cmp.Compare(a.Key, b.Key))
	})
	return view, nil
}

// add counts a row, and returns the cause that keeps it; "" = nothing that a person must do.
func (g *grouping) add(f *fact) string {
	on := g.resolve(f, 0)
	f.on = on.key
	if on.key == "" {
		g.moving++
		return ""
	}
	b := g.groups[on.key]
	if b == nil {
		b = &building{parts: map[Part]*Part{}, sums: map[sumKey]*Sum{}, subjects: map[string]*Subject{}}
		b.Key, b.Awaited = on.key, on.awaited
		if b.Awaited != nil {
			b.State, b.Cause = trade.Waiting, trade.CauseParent
		}
		g.groups[on.key] = b
	}
	if f.group != "" {
		b.Cause, b.Problem = f.cause, f.problem
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
	} else {
		b.Behind++
	}
	if (f.group != "" || b.Awaited != nil) && len(b.Samples) < samplesKept {
		b.Samples = append(b.Samples, f.id)
	}
	if b.Oldest.IsZero() || f.seen.Before(b.Oldest) {
		b.Oldest = f.seen
	}
	k := sumKey{f.job.Spec.Sends, f.fixing, f.group == "", cmp.Or(f.product, on.product)}
	s := b.sums[k]
	if s == nil {
		s = &Sum{Kind: k.kind, Fixing: k.fixing, Behind: k.behind, Product: k.product}
		b.sums[k] = s
	}
	one := f.sums()
	s.Join(one)
	if k.kind == trade.OrderCommitments && one.Values == nil {
		s.Unpriced++
	}
	return on.key
}

// resolve follows the parents for which a row waits. Of several the first that needs a person
// counts.
func (g *grouping) resolve(f *fact, depth int) stuckOn {
	if f.group != "" {
		return stuckOn{key: f.group, product: f.product}
	}
	product := ""
	for _, p := range f.parents {
		var on stuckOn
		if above := g.board.keys[p.ParentKey]; above != nil && depth < deepest {
			on = g.resolve(above, depth+1)
		} else {
			on = g.beyond(p)
		}
		if on.key != "" {
			return on
		}
		product = cmp.Or(product, on.product)
	}
	return stuckOn{product: product}
}

// beyond returns the cause of a parent that is not stuck; none if the parent goes by itself.
func (g *grouping) beyond(of parent) stuckOn {
	is := g.outside[of.ParentKey]
	switch is.State {
	case trade.Pending, trade.Sending, trade.Accepted:
		return stuckOn{}
	}
	awaited := trade.Awaited{Job: of.Job, Key: of.Key, ParentState: is.State, ParentCause: is.Cause}
	why := string(is.State)
	if of.early && is.State == "" {
		awaited.ParentCause, why = trade.CauseCutOver, trade.CauseCutOver
	}
	return stuckOn{key: trade.CauseParent + " " + why, awaited: &awaited}
}

// The board: what waits, kept in memory and read again by version.

package pending

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Rows is the part of the ledger that a board reads.
type Rows interface {
	run.CodeKeeper
	// Stuck returns the id and the version of each row of a job that waits for something or needs a
	// person.
	Stuck(ctx context.Context, job string) ([]trade.RowVersion, error)
	// Entries returns whole rows by their ids, in any order.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	// Parents returns what the ledger knows of rows; unknown ones are missing from the map.
	Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error)
}

// Index groups the rows that are stuck. It keeps up to a thousand bytes of each in memory. If a
// Take fails or is cancelled, what it has read stays, and the next one continues from there.
type Index struct {
	Ledger Rows
	Jobs   []*mapping.Job
	Now    func() time.Time

	mu    gosync.Mutex
	facts map[int64]*fact
	keys  map[trade.ParentKey]*fact
	words map[string]string // one copy of each text that many rows share
	look  int               // number of the last Take
}

// fact is what the board keeps of a row.
type fact struct {
	look    int // the last Take that found the row
	id      int64
	version int64
	job     *mapping.Job
	key     string
	state   trade.State
	group   string // key of the cause; "" if the row waits for other rows
	on      string // key of the cause under which it was counted last; "" = nobody need do anything
	cause   string
	problem *trade.Problem
	parents []parent // for which it waits, also if a cause of its own stands before them
	lacks   []code   // of the de-para, as they were counted last, also those of the rows for which it waits
	codes   []code   // of the de-para, for which it waits, whether a table has them or not
	subject string
	seen    time.Time
	retry   bool
	product string
	pile    trade.Pile
	figures trade.Figures
}

// parent is one that a row waits for.
type parent struct {
	trade.ParentKey
	early bool // it is before the cut-over, if the ledger does not have it
}

// code is one line of a de-para table; an empty code means the whole table.
type code struct{ kind, code string }

// readTogether is how many rows are read at once.
const readTogether = 500

// Update reads from the ledger what has changed, and groups what is stuck now.
func (b *Index) Update(ctx context.Context) (*View, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.facts == nil {
		b.facts, b.keys, b.words = map[int64]*fact{}, map[trade.ParentKey]*fact{}, map[string]string{}
	}
	refs, err := run.Codes(ctx, b.Ledger)
	if err != nil {
		return nil, err
	}
	b.look++
	for _, job := range b.Jobs {
		stands, err := b.Ledger.Stuck(ctx, job.Name())
		if err != nil {
			return nil, err
		}
		var anew []int64
		for _, s := range stands {
			if f := b.facts[s.ID]; f != nil && f.version == s.Version {
				f.look = b.look
				continue
			}
			anew = append(anew, s.ID)
		}
		for chunk := range slices.Chunk(anew, readTogether) {
			entries, err := b.Ledger.Entries(ctx, chunk)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				f := b.fact(job, e, refs)
				b.facts[e.ID], b.keys[trade.ParentKey{Job: e.Job, Key: e.Key}] = f, f
			}
		}
	}
	seen := map[trade.ParentKey]bool{}
	var outside []trade.ParentKey // parents that are not stuck themselves, of rows without a cause of their own
	for _, f := range b.facts {
		if f.look != b.look {
			delete(b.facts, f.id)
			delete(b.keys, trade.ParentKey{Job: f.job.Name(), Key: f.key})
		}
	}
	for _, f := range b.facts {
		for _, p := range f.parents {
			if key := p.ParentKey; f.group == "" && b.keys[key] == nil && !seen[key] {
				seen[key] = true
				outside = append(outside, key)
			}
		}
	}
	known, err := b.Ledger.Parents(ctx, outside)
	if err != nil {
		return nil, err
	}
	view := &View{At: b.Now()}
	groups, short := map[string]*Group{}, map[code]*trade.Shortage{}
	for _, id := range slices.Sorted(maps.Keys(b.facts)) { // in a fixed order, so that the samples do not change
		f := b.facts[id]
		on := b.resolve(f, known, 0)
		f.on = on.key
		if on.key == "" {
			view.Moving++
		} else {
			on.count(f, groups)
		}
		// once for each code that it lacks, and once for each of their kinds
		f.lacks = b.missing(f, refs)
		for i, c := range f.lacks {
			sum := f.block(c, short)
			if slices.Contains(f.codes, c) {
				sum.Sample = trade.SampleOf(sum.Sample, f.id)
			}
			if i == 0 || f.lacks[i-1].kind != c.kind {
				f.block(code{kind: c.kind}, short)
			}
		}
	}
	view.Short = trade.ValuesOf(short)
	slices.SortFunc(view.Short, func(a, b trade.Shortage) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), trade.CompareBool(a.Code == "", b.Code == ""),
			b.Rows()-a.Rows(), trade.CompareCodes(a.Code, b.Code))
	})
	for _, g := range groups {
		g.sort()
		g.Subjects, g.subjects, g.sums = g.Subjects[:min(len(g.Subjects), subjectsShown)], nil, nil
		view.Groups = append(view.Groups, g)
	}
	slices.SortFunc(view.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Rows(), a.Rows()), cmp.Compare(a.Key, b.Key))
	})
	return view, nil
}

// Select calls fn for each row of a group, as of the last Take, with what it adds to the sums; kind is that
// of a selection of [Group.Kinds], or "" for all rows that have the cause themselves. The group may be
// trade.AnyCause, or that of a trade.Shortage.
func (b *Index) Select(cause, kind string, fn func(id int64, key trade.ParentKey, adds trade.Sums)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.facts {
		short := f.state != trade.Invalid && kind == f.pile.Name() && slices.ContainsFunc(f.lacks, func(c code) bool {
			all, one := trade.Shortage{Kind: c.kind}, trade.Shortage{Kind: c.kind, Code: c.code}
			return cause == all.Group() || cause == one.Group()
		})
		if short || (f.on == cause || cause == trade.AnyCause) &&
			(kind == "" && f.group != "" || kind == f.kind().name()) {
			var adds trade.Sums
			adds.Add(f.figures)
			fn(f.id, trade.ParentKey{Job: f.job.Name(), Key: f.key}, adds)
		}
	}
}

// one returns the same copy of a text for all equal ones.
func (b *Index) one(text string) string {
	if have, ok := b.words[text]; ok {
		return have
	}
	b.words[text] = text
	return text
}

// fact returns what the board keeps of a row.
func (b *Index) fact(job *mapping.Job, e trade.Entry, refs map[string]map[string]string) *fact {
	f := &fact{
		look: b.look, id: e.ID, version: e.Version, job: job, key: e.Key, state: e.State, cause: b.one(e.Cause),
		seen: e.FirstSeenAt, pile: trade.Pile{Kind: job.Spec.Sends},
	}
	key, problem := CauseOf(e)
	switch {
	case e.State == trade.InDoubt:
		f.group = string(trade.InDoubt)
	case ParentOf(e) == nil:
		f.group, f.problem = b.one(key), problem
	}
	for _, a := range e.WaitingFor {
		if e.State == trade.Waiting && a.Job != "" {
			f.parents = append(f.parents, parent{trade.ParentKey{Job: b.one(a.Job), Key: a.Key}, a.BeforeCutOver()})
		}
		if (e.State == trade.Waiting || e.State == trade.Invalid) && a.Ref != "" {
			f.codes = append(f.codes, code{b.one(a.Ref), b.one(a.Code)})
		}
	}
	if f.group != "" {
		f.subject = b.one(subjectOf(e, problem, job.Spec))
	}
	f.retry = e.State == trade.Rejected && !e.Weak() && e.Payload != nil || e.State == trade.Waiting &&
		e.Payload != nil && len(e.WaitingFor) > 0 && !slices.ContainsFunc(e.WaitingFor,
		func(a trade.Awaited) bool { return a.Platform == "" })
	// a weight or price of zero or less is a typing error, which must not reduce the sums
	amount := e.Quantity.Amount
	kg, weighed := e.Quantity.Kilograms()
	weighed = weighed && kg.Sign() > 0
	if weighed {
		f.figures = trade.Figures{Amount: &amount, Unit: e.Quantity.Unit}
	}
	if e.Sends != trade.OrderCommitments {
		return f
	}
	fields := job.RowFields(e.NewestValues(), refs)
	f.product = b.one(cmp.Or(fields["product"].Text, fields["product"].ERP))
	f.pile.Fixing = Fixes(fields)
	if price := trade.DecimalOf(fields["price"].Text); price != nil && weighed && price.Sign() > 0 {
		f.figures.Price, f.figures.Currency = price, b.one(fields["currency"].Text)
	}
	return f
}

// kind returns what the row is summed with.
func (f *fact) kind() SumKind { return SumKind{f.pile, f.group == ""} }

// stuckOn is the cause that finally keeps a row.
type stuckOn struct {
	key     string // of the group; "" = nothing that a person must do
	awaited *trade.Awaited
	product string // of the row's contract
}

// deepest is the longest chain of waiting rows that is followed: a traceability record waits for a
// delivery, which waits for a contract; the rest is reserve.
const deepest = 8

// resolve follows the parents for which a row waits. Of several the first that needs a person
// counts. known are the parents that are not stuck themselves.
func (b *Index) resolve(f *fact, known map[trade.ParentKey]trade.Parent, depth int) stuckOn {
	if f.group != "" {
		return stuckOn{key: f.group, product: f.product}
	}
	product := ""
	for _, p := range f.parents {
		if above := b.keys[p.ParentKey]; above != nil && depth < deepest {
			on := b.resolve(above, known, depth+1)
			if on.key != "" {
				return on
			}
			product = cmp.Or(product, on.product)
			continue
		}
		is := known[p.ParentKey]
		why := string(is.State)
		switch {
		case is.State == trade.Pending || is.State == trade.Sending || is.State == trade.Accepted: // it goes by itself
			continue
		case is.State == "" && p.early:
			is.Cause, why = trade.CauseCutOver, trade.CauseCutOver
		}
		awaited := &trade.Awaited{Job: p.Job, Key: p.Key, ParentState: is.State, ParentCause: is.Cause}
		return stuckOn{key: strings.TrimSpace(trade.CauseParent + " " + why), awaited: awaited}
	}
	return stuckOn{product: product}
}

// count adds a row to the group of the cause that keeps it.
func (on stuckOn) count(f *fact, groups map[string]*Group) {
	g := groups[on.key]
	if g == nil {
		g = newGroup(on.key, on.awaited)
		if g.Awaited != nil {
			g.State, g.Cause = trade.Waiting, trade.CauseParent
		}
		groups[on.key] = g
	}
	if f.group != "" {
		g.Cause, g.Problem = f.cause, f.problem
		g.addOwn(f.job.Name(), f.state, f.subject, f.id, f.retry)
	} else {
		g.Behind++
	}
	g.add(SumKey{f.kind(), cmp.Or(f.product, on.product)}, f.figures, f.seen)
}

// missing returns the codes that keep a row, and those that keep the rows for which it waits (a
// delivery waits for its contract, which waits for its wallet), sorted. have are the ids by kind
// and code.
func (b *Index) missing(f *fact, have map[string]map[string]string) []code {
	var out []code
	next, seen := []*fact{f}, map[*fact]bool{f: true}
	for len(next) > 0 {
		f, next = next[len(next)-1], next[:len(next)-1]
		for _, c := range f.codes {
			if _, there := have[c.kind][c.code]; !there {
				out = append(out, c)
			}
		}
		for _, p := range f.parents {
			if above := b.keys[p.ParentKey]; above != nil && above.state == trade.Waiting && !seen[above] {
				seen[above] = true
				next = append(next, above)
			}
		}
	}
	slices.SortFunc(out, func(a, b code) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.code, b.code))
	})
	return slices.Compact(out) // one code may occur in two fields
}

// block counts the row among those that a missing code keeps.
func (f *fact) block(c code, short map[code]*trade.Shortage) *trade.Shortage {
	sum := short[c]
	if sum == nil {
		sum = &trade.Shortage{
			Kind: c.kind, Code: c.code, Blocked: map[trade.Pile]*trade.Load{}, Invalid: map[trade.Pile]*trade.Load{},
			Since: f.seen,
		}
		short[c] = sum
	}
	loads := sum.Blocked
	switch {
	case f.state == trade.Invalid:
		loads = sum.Invalid
	case f.on != "ref:"+c.kind:
		sum.Elsewhere++
	}
	if loads[f.pile] == nil {
		loads[f.pile] = &trade.Load{Values: map[string]trade.Decimal{}}
	}
	loads[f.pile].Add(f.figures.Kilograms())
	if value, priced := f.figures.Value(); priced {
		loads[f.pile].Values[f.figures.Currency] = loads[f.pile].Values[f.figures.Currency].Add(value)
	}
	if f.seen.Before(sum.Since) {
		sum.Since = f.seen
	}
	return sum
}

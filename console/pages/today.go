package pages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// todayShown is how many causes the first page shows; the rest is one line that leads to all.
const todayShown = 7

// today is what needs somebody now, the heaviest first, and who.
type today struct {
	Tasks   []task
	More    int // causes that are not shown
	Helpers []helper
	Reading int // rows that are being read; nothing else is known yet
}

// helper is somebody who can see to what waits.
type helper struct {
	Key    string // of a phrase: accounting, it, platform
	Tasks  int
	Rows   int
	Oldest time.Time
	Path   string
}

// task is one cause as the first page shows it.
type task struct {
	Helper string
	What   string
	Rows   int
	Weight trade.Decimal // of contracts and fixations, or where there are none of deliveries; kilograms
	Values []pending.Money
	Oldest time.Time
	Path   string
	Urgent bool
}

// helperOf reports which of the three departments can see to what a fixer names; "" = it ends by
// itself.
func helperOf(f trade.Fixer) string {
	switch f {
	case trade.FixIT, trade.FixReferences:
		return "it"
	case trade.FixPlatform:
		return "platform"
	case trade.FixNobody:
		return ""
	}
	return "accounting"
}

// todayOf picks from what is stuck what the first page shows.
func todayOf(stuck Stuck) today {
	out := today{Reading: stuck.Reading}
	for _, name := range []string{"accounting", "it", "platform"} {
		out.Helpers = append(out.Helpers, helper{Key: name, Path: "/pending?who=" + name})
	}
	for _, c := range stuck.Causes {
		if c.Advice.Fixer == trade.FixNobody {
			continue
		}
		t := taskOf(c)
		out.Tasks = append(out.Tasks, t)
		h := &out.Helpers[slices.IndexFunc(out.Helpers, func(h helper) bool { return h.Key == t.Helper })]
		h.Tasks++
		h.Rows += t.Rows
		if h.Oldest.IsZero() || t.Oldest.Before(h.Oldest) {
			h.Oldest = t.Oldest
		}
	}
	out.Helpers = slices.DeleteFunc(out.Helpers, func(h helper) bool { return h.Tasks == 0 })
	slices.SortStableFunc(out.Tasks, byWeight)
	if len(out.Tasks) > todayShown {
		out.More = len(out.Tasks) - todayShown
		out.Tasks = out.Tasks[:todayShown]
	}
	return out
}

// byWeight puts what a person must decide first, then the heaviest.
func byWeight(a, b task) int {
	switch {
	case a.Urgent && !b.Urgent:
		return -1
	case b.Urgent && !a.Urgent:
		return 1
	}
	return cmp.Or(b.Weight.Cmp(a.Weight), cmp.Compare(b.Rows, a.Rows))
}

// taskOf sums up a cause. Contracts, fixations and deliveries are the same grain: the weight is
// that of contracts, where there are none that of fixations, and else that of what is delivered.
func taskOf(c Cause) task {
	t := task{
		Helper: helperOf(c.Advice.Fixer), What: c.Advice.What, Rows: c.Rows(), Oldest: c.Oldest,
		Path: "/pending#" + causeAnchor(c.Key), Urgent: c.State == trade.InDoubt || c.State == trade.Held,
	}
	if c.State == trade.InDoubt {
		t.Path = "/doubts/next"
	}
	weights := map[trade.Kind]trade.Decimal{}
	var fixed trade.Decimal
	for _, s := range c.Sums {
		if s.Fixing {
			fixed = fixed.Add(s.Kilograms)
		} else {
			weights[s.Kind] = weights[s.Kind].Add(s.Kilograms)
		}
		t.Values = addValues(t.Values, s.Values)
	}
	for _, w := range []trade.Decimal{
		weights[trade.OrderCommitments], fixed, weights[trade.Deliveries], weights[trade.Traceability],
	} {
		if t.Weight = w; w.Sign() != 0 {
			break
		}
	}
	return t
}

// addValues adds amounts currency by currency.
func addValues(to, more []pending.Money) []pending.Money {
	for _, m := range more {
		i := slices.IndexFunc(to, func(have pending.Money) bool { return have.Currency == m.Currency })
		if i < 0 {
			to = append(to, m)
			continue
		}
		to[i].Amount = to[i].Amount.Add(m.Amount)
	}
	return to
}

// causeAnchor names the place of a cause on the page of causes.
func causeAnchor(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "c" + hex.EncodeToString(sum[:6])
}

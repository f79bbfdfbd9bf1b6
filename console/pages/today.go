package pages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// todayShown is how many causes the first page shows; one line links to the others.
const todayShown = 7

// today is what needs a person now, most important first, and which department.
type today struct {
	Tasks   []task
	More    int // causes that are not shown
	Helpers []helper
	Reading int // number of rows being read; the rest is not known yet
	Moving  int // rows that wait for others that are on their way: nobody need do anything
	At      time.Time
	Old     bool // it is some seconds old, and is being read again
}

// oldAfter is how old numbers are shown without their time.
const oldAfter = 5 * time.Second

// helper is a department that can cure causes.
type helper struct {
	Key    string // of a phrase: accounting, it, platform
	Tasks  int
	Rows   int // that have a cause themselves
	Behind int // that wait for those
	Oldest time.Time
	Path   string
}

// task is one cause as the first page shows it.
type task struct {
	Helper string
	What   string
	Rows   int           // that have the cause themselves
	Behind int           // that wait for those
	Weight trade.Decimal // kilograms; see taskOf
	Values []pending.Money
	Oldest time.Time
	Path   string
	Urgent bool
}

// helperOf returns which of the three departments cures what a fixer names; "" = it ends by itself.
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

// todayOf returns the part of what is stuck that the first page shows.
func todayOf(stuck office.Stuck, now time.Time) today {
	out := today{Reading: stuck.Reading, Moving: stuck.Moving, At: stuck.At}
	out.Old = !stuck.At.IsZero() && now.Sub(stuck.At) > oldAfter
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
		h.Rows, h.Behind = h.Rows+t.Rows, h.Behind+t.Behind
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

// byWeight sorts tasks: first those that a person must decide, then by weight, largest first.
func byWeight(a, b task) int {
	switch {
	case a.Urgent && !b.Urgent:
		return -1
	case b.Urgent && !a.Urgent:
		return 1
	}
	return cmp.Or(b.Weight.Cmp(a.Weight), cmp.Compare(b.Rows, a.Rows))
}

// taskOf sums up a cause. All kinds of records are the same grain, so that the weight is that of
// one kind: contracts, or if that is zero fixations, then deliveries, then traceability.
func taskOf(c office.Cause) task {
	t := task{
		Helper: helperOf(c.Advice.Fixer), What: c.Advice.What, Rows: c.Rows() - c.Behind, Behind: c.Behind,
		Oldest: c.Oldest,
		Path:   "/pending#" + causeAnchor(c.Key), Urgent: c.State == trade.InDoubt || c.State == trade.Held,
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
		t.Weight = w
		if w.Sign() != 0 {
			break
		}
	}
	return t
}

// addValues adds sums of money currency by currency.
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

// causeAnchor returns the anchor of a cause on the page of causes.
func causeAnchor(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "c" + hex.EncodeToString(sum[:6])
}

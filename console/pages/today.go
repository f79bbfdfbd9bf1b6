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

// todayShown is how many causes of a department the first page shows; one line links to the others.
const todayShown = 7

// today is what needs a person now: what can cost money, what the person's own department can cure,
// and what others can.
type today struct {
	Doubt   task     // what may be on the platform already, as one task
	Kinds   []task   // its parts, if there are several, each with a queue of its own
	Mine    helper   // the person's own department; Tasks is 0 if nothing waits for it
	Tasks   []task   // those of Mine, the heaviest first
	More    int      // of them that are not shown
	Helpers []helper // all departments for which something waits
	Quiet   task     // what somebody takes care of, until a day
	Reading int      // number of rows being read; the rest is not known yet
	Moving  int      // rows that wait for others that are on their way: nobody need do anything
	At      time.Time
	Old     bool // it is some seconds old, and is being read again
}

// Others returns the departments that are not the person's own.
func (t today) Others() []helper {
	return slices.DeleteFunc(slices.Clone(t.Helpers), func(h helper) bool { return h.Key == t.Mine.Key })
}

// oldAfter is how old numbers are shown without their time.
const oldAfter = 5 * time.Second

// helper is a department that can cure causes.
type helper struct {
	Key    trade.Department
	Tasks  int
	Rows   int // that have a cause themselves
	Behind int // that wait for those
	Sums   []pending.KindSum
	Oldest time.Time
	Path   string
}

// task is one cause as the first page shows it.
type task struct {
	Helper trade.Department // "" = it ends by itself
	What   string
	Rows   int               // that have the cause themselves
	Behind int               // that wait for those
	Sums   []pending.KindSum // of the rows that have the cause themselves
	Oldest time.Time
	Path   string
	Urgent bool
	Queue  queue // of the rows that are decided one by one
}

// todayOf returns the part of what is stuck that the first page shows to a person.
func todayOf(stuck office.Stuck, now time.Time, role trade.Role) today {
	out := today{Reading: stuck.Reading, Moving: stuck.Moving, At: stuck.At, Doubt: task{Path: "/doubts/next"}}
	out.Old = !stuck.At.IsZero() && now.Sub(stuck.At) > oldAfter
	mine := trade.Accounting
	if role == trade.Administrator {
		mine = trade.IT
	}
	for _, c := range stuck.Causes {
		t := taskOf(c)
		switch {
		case c.Quiet:
			out.Quiet.Rows, out.Quiet.Behind = out.Quiet.Rows+t.Rows, out.Quiet.Behind+t.Behind
		case t.Helper == "":
		case t.Urgent:
			out.Doubt.Rows, out.Doubt.Behind = out.Doubt.Rows+t.Rows, out.Doubt.Behind+t.Behind
			out.Doubt.Sums = addKinds(out.Doubt.Sums, t.Sums)
			out.Kinds = append(out.Kinds, t)
		case t.Helper == mine:
			out.Tasks = append(out.Tasks, t)
		}
	}
	out.Helpers = helpersOf(stuck.Causes)
	out.Mine = helper{Key: mine}
	if i := slices.IndexFunc(out.Helpers, func(h helper) bool { return h.Key == mine }); i >= 0 {
		out.Mine = out.Helpers[i]
	}
	slices.SortStableFunc(out.Tasks, byWeight)
	if len(out.Kinds) == 1 {
		out.Kinds = nil
	}
	if len(out.Tasks) > todayShown {
		out.More = len(out.Tasks) - todayShown
		out.Tasks = out.Tasks[:todayShown]
	}
	return out
}

// helpersOf returns the departments for which something waits, without what may be on the platform already,
// which stands apart.
func helpersOf(causes []office.Cause) []helper {
	out := trade.Map(trade.Departments, func(name trade.Department) helper {
		return helper{Key: name, Path: "/pending?who=" + string(name)}
	})
	for _, c := range causes {
		t := taskOf(c)
		i := slices.Index(trade.Departments, t.Helper)
		if i < 0 || t.Urgent || c.Quiet {
			continue
		}
		h := &out[i]
		h.Tasks++
		h.Rows, h.Behind = h.Rows+t.Rows, h.Behind+t.Behind
		h.Sums = addKinds(h.Sums, t.Sums)
		if h.Oldest.IsZero() || t.Oldest.Before(h.Oldest) {
			h.Oldest = t.Oldest
		}
	}
	return slices.DeleteFunc(out, func(h helper) bool { return h.Tasks == 0 })
}

// byWeight sorts tasks: first those that a person must decide, then by weight, largest first.
func byWeight(a, b task) int {
	switch {
	case a.Urgent && !b.Urgent:
		return -1
	case b.Urgent && !a.Urgent:
		return 1
	}
	return cmp.Or(b.weight().Cmp(a.weight()), cmp.Compare(b.Rows, a.Rows))
}

// weight returns the weight of the first kind: all kinds are the same grain, and contracts come first.
func (t task) weight() (kg trade.Decimal) {
	if len(t.Sums) > 0 {
		kg = t.Sums[0].Kilograms
	}
	return kg
}

// taskOf sums up a cause.
func taskOf(c office.Cause) task {
	t := task{
		Helper: c.Advice.Fixer.Department(), What: c.Advice.What, Rows: c.Rows() - c.Behind, Behind: c.Behind,
		Oldest: c.Oldest,
		Path:   "/pending#" + causeAnchor(c.Key), Urgent: c.State == trade.InDoubt || c.State == trade.Held,
	}
	switch c.State {
	case trade.InDoubt:
		t.Queue = queue(trade.InDoubt)
	case trade.Held:
		t.Queue = queue(c.Cause)
	}
	for _, kind := range c.Kinds() {
		if !kind.Behind {
			t.Sums = append(t.Sums, kind)
		}
	}
	return t
}

// addKinds adds sums kind by kind: contracts, deliveries and fixations are the same grain.
func addKinds(to, more []pending.KindSum) []pending.KindSum {
	for _, m := range more {
		i := slices.IndexFunc(to, func(k pending.KindSum) bool { return k.Pile == m.Pile })
		if i < 0 {
			i, to = len(to), append(to, pending.KindSum{SumKind: pending.SumKind{Pile: m.Pile}})
		}
		to[i].Join(m.Figure.Sums)
	}
	slices.SortStableFunc(to, func(a, b pending.KindSum) int {
		return slices.Index(trade.Kinds, a.Kind) - slices.Index(trade.Kinds, b.Kind)
	})
	return to
}

// causeAnchor returns the anchor of a cause on the page of causes.
func causeAnchor(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "c" + hex.EncodeToString(sum[:6])
}

package pages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// todayShown is how many causes the first page shows; one line links to the others.
const todayShown = 10

// today is what needs a person now: what can cost money, then what each department can cure.
type today struct {
	office.Stuck
	Doubt   task // what may be on the platform already, as one task
	Causes  []task
	More    int    // causes that are not shown
	Helpers []task // departments for which something waits, the person's own first
	Quiet   task   // what somebody takes care of, until a day
	Old     bool   // it is some seconds old, and is being read again
}

// oldAfter is how old numbers are shown without their time.
const oldAfter = 5 * time.Second

// task is one cause as a table shows it, or several as one.
type task struct {
	office.Cause
	Helper trade.Department  // "" = it ends by itself
	Name   string            // what it is, in a few words
	Rows   int               // that have the cause themselves
	Sums   []pending.KindSum // of those
	Path   string
	Anchor string
	Urgent bool
	Queue  queue // of the rows that are decided one by one
	Open   *causeShown
}

// List returns the address of the list of the rows of one kind.
func (task) List(k pending.KindSum) string { return figurePath(k.Of) }

// named gives causes their names.
func named(v view.Voice, tasks []task) {
	for i, t := range tasks {
		tasks[i].Name = view.Mask(v.CauseName(string(t.Queue), t.Advice.What))
	}
	tellApart(tasks, func(t *task) (*string, string) { return &t.Name, v.State(t.State) })
}

// tellApart adds the state to the names of causes of which two have the same.
func tellApart[T any](causes []T, of func(*T) (name *string, state string)) {
	alike := map[string]int{}
	for i := range causes {
		name, _ := of(&causes[i])
		alike[*name]++
	}
	for i := range causes {
		if name, state := of(&causes[i]); alike[*name] > 1 && state != "" {
			*name += " · " + state
		}
	}
}

// todayOf returns the part of what is stuck that the first page shows to a person.
func todayOf(v view.Voice, stuck office.Stuck, now time.Time, role trade.Role) today {
	out := today{Stuck: stuck}
	out.Old = !stuck.At.IsZero() && now.Sub(stuck.At) > oldAfter
	mine, next := trade.Accounting, ""
	if role == trade.Administrator {
		mine = trade.IT
	}
	if role.May(trade.Accountant) {
		next = "/next"
	}
	var tasks []task
	for _, c := range stuck.Causes {
		t := taskOf(c)
		switch {
		case c.Quiet:
			out.Quiet.join(t)
			continue
		case t.Helper == "":
			continue
		case t.Urgent:
			out.Doubt.join(t)
			t.Path = t.Queue.Path(next)
		}
		tasks = append(tasks, t)
	}
	out.Helpers = helpersOf(stuck.Causes)
	slices.SortStableFunc(out.Helpers, func(a, b task) int {
		return trade.CompareBool(b.Helper == mine, a.Helper == mine)
	})
	slices.SortStableFunc(tasks, byWeight)
	shown := min(len(tasks), todayShown)
	out.More = len(tasks) - shown
	out.Causes = tasks[:shown]
	named(v, out.Causes)
	return out
}

// helpersOf returns the departments for which something waits, each as one task, without what may be on the
// platform already, which stands apart.
func helpersOf(causes []office.Cause) []task {
	out := trade.Map(trade.Departments, func(name trade.Department) task {
		return task{Helper: name, Path: "/pending?who=" + string(name)}
	})
	for _, c := range causes {
		t := taskOf(c)
		i := slices.Index(trade.Departments, t.Helper)
		if i >= 0 && !t.Urgent && !c.Quiet {
			out[i].join(t)
		}
	}
	return slices.DeleteFunc(out, func(t task) bool { return t.Rows+t.Behind == 0 })
}

// join adds the rows of another task.
func (t *task) join(more task) {
	t.Rows, t.Behind = t.Rows+more.Rows, t.Behind+more.Behind
	t.Sums = addKinds(t.Sums, more.Sums)
}

// byWeight sorts tasks: first those that a person must decide, then by weight, largest first.
func byWeight(a, b task) int {
	return cmp.Or(trade.CompareBool(b.Urgent, a.Urgent), b.weight().Cmp(a.weight()), cmp.Compare(b.Rows, a.Rows))
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
	anchor := causeAnchor(c.Key)
	t := task{
		Cause: c, Helper: c.Advice.Fixer.Department(), Rows: c.Rows() - c.Behind,
		Path: "/pending?cause=" + url.QueryEscape(c.Key) + "#" + anchor, Anchor: anchor,
		Urgent: c.State == trade.InDoubt || c.State == trade.Held,
	}
	if t.Urgent {
		t.Queue = queueFor(c.State, c.Cause)
	}
	t.Sums = slices.DeleteFunc(c.Kinds(), func(k pending.KindSum) bool { return k.Behind })
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

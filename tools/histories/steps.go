package histories

import (
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// op is one kind of step. do returns what it did, or "" if there was nothing to do. a and b choose
// what to act on; any number is valid.
type op struct {
	name   string
	weight int
	calm   bool // changes nothing that is known
	do     func(r *run, a, b int) string
}

// steps is the table of everything that may happen. A new attack is one more line.
var steps []op

func init() { // in a function, because some steps use the table themselves
	steps = []op{
		// Time, the process, and what runs.
		{"sync", 0, true, func(r *run, a, b int) string { return r.pass(engine.Options{}) }},
		{"sweep", 0, true, func(r *run, a, b int) string { return r.pass(engine.Options{Sweep: true}) }},
		{"wait", 2, true, func(r *run, a, b int) string { return r.wait(time.Duration(1+a) * 20 * time.Minute) }},
		{"dry run", 2, true, func(r *run, a, b int) string { return r.dryRun(b%2 == 0) }},
		{"one job", 2, true, func(r *run, a, b int) string {
			return r.pass(engine.Options{Sweep: b%2 == 0}, r.jobs[a%len(r.jobs)].name)
		}},
		{"at once", 2, true, (*run).atOnce},
		{"interrupt", 2, true, (*run).interrupt},
		{"restart", 2, true, func(r *run, a, b int) string { return r.restart() }},
		{"rebuild", 3, true, func(r *run, a, b int) string { return r.rebuild() }},
		{"crash", 2, false, (*run).crash},
		{"overtake", 3, false, (*run).overtake},
		{"late answer", 6, false, (*run).lateAnswer},
		{"edit while sending", 3, false, (*run).editWhileSending},

		// The platform.
		{"answer lost", 4, false, func(r *run, a, b int) string {
			return r.fault(a, "lost-after", "status=500,commit", "noid", "lost-before", "status=409,commit", "garbled")
		}},
		{"says it exists", 2, false, func(r *run, a,
			b int,
		) string {
			return r.fault(a, "duplicate", "status=409,commit")
		}},
		{"refusal", 1, false, func(r *run, a, b int) string {
			return r.fault(a, "malformed", "refused", "status=401", "status=403", "status=404", "html", "status=503",
				"throttle=1s")
		}},
		{"wallet unknown", 2, true, func(r *run, a, b int) string {
			r.api.Forget(sandbox.Wallets, walletID)
			return "the platform forgets the wallet"
		}},
		{"wallet known", 2, true, func(r *run, a, b int) string {
			r.api.Know(sandbox.Wallets, walletID)
			return "the platform knows the wallet"
		}},

		// People who type.
		{"new", 8, true, edit(func(r *run, lines *[]line, a, b int) string {
			*lines = append(*lines, r.thing(lines, a+map[bool]int{true: 1 - a%3}[r.Calm]))
			return "a new row"
		})},
		{"price", 3, true, edit(func(r *run, lines *[]line, a, b int) string {
			if r.Calm && lines != &r.contracts {
				return "" // another CAR or farm is another request, and the former one may be typed again
			}
			return typed(at(lines, a), func(l *line) { l.price++ }, "another price")
		})},
		{"in front", 6, false, edit(func(r *run, lines *[]line, a, b int) string {
			*lines = slices.Insert(*lines, a%(len(*lines)+1), r.thing(lines, b))
			renumber(*lines)
			return "a new row in front of others, which are numbered anew"
		})},
		{"swap", 5, false, edit(func(r *run, lines *[]line, a, b int) string {
			x, y := at(lines, a), at(lines, b)
			if x == y {
				return ""
			}
			x.num, y.num = y.num, x.num
			*x, *y = *y, *x
			return fmt.Sprintf("%v and %v change places and numbers", x.business, y.business)
		})},
		{"type again", 8, false, edit(func(r *run, lines *[]line, a, b int) string {
			l := at(lines, a)
			if l == nil {
				return ""
			}
			again := *l
			again.num = free(*lines)
			if b%3 == 0 {
				again.price++
			}
			*lines = append(slices.Delete(*lines, a%len(*lines), a%len(*lines)+1), again)
			return fmt.Sprintf("%v is deleted and typed again", again.business)
		})},
		{"delete", 5, false, edit(func(r *run, lines *[]line, a, b int) string {
			l := at(lines, a)
			if l == nil {
				return ""
			}
			text := fmt.Sprintf("%v is deleted", l.business)
			*lines = slices.Delete(*lines, a%len(*lines), a%len(*lines)+1)
			return text
		})},
		{"delete and renumber", 4, false, edit(func(r *run, lines *[]line, a, b int) string {
			if len(*lines) == 0 {
				return ""
			}
			*lines = slices.Delete(*lines, a%len(*lines), a%len(*lines)+1)
			renumber(*lines)
			return "a row is deleted, the others are numbered anew"
		})},
		{"split", 3, false, edit(func(r *run, lines *[]line, a, b int) string {
			l := at(lines, a)
			if l == nil || l.amount < 2 {
				return ""
			}
			r.things++
			rest := *l
			rest.id, rest.num, rest.amount = r.things, free(*lines), l.amount/2
			l.amount -= rest.amount
			*lines = append(*lines, rest)
			return fmt.Sprintf("a row is split into %d and %d", l.amount, rest.amount)
		})},
		{"merge", 3, false, edit(func(r *run, lines *[]line, a, b int) string {
			x, y := at(lines, a), at(lines, b)
			if x == y || x.parent != y.parent {
				return ""
			}
			x.amount += y.amount
			*lines = slices.Delete(*lines, b%len(*lines), b%len(*lines)+1)
			return "two rows become one"
		})},
		{"recycle", 3, false, edit(func(r *run, lines *[]line, a, b int) string {
			l := at(lines, a)
			if l == nil {
				return ""
			}
			num := l.num
			*l = r.thing(lines, b)
			l.num = num
			return fmt.Sprintf("another thing gets the number of one that is gone: %v", l.business)
		})},
		{"edit", 4, false, edit(func(r *run, lines *[]line, a, b int) string {
			return typed(at(lines, a), func(l *line) {
				r.before[l.id] = l.business
				l.amount++
			}, "another amount")
		})},
		{"like another", 3, false, edit(func(r *run, lines *[]line, a, b int) string {
			other := at(lines, b)
			return typed(at(lines, a), func(l *line) {
				if l.parent == other.parent {
					r.before[l.id] = l.business
					l.business = other.business
				}
			}, "becomes like another")
		})},
		{"edit back", 3, false, edit(func(r *run, lines *[]line, a, b int) string {
			return typed(at(lines, a), func(l *line) {
				if was, ok := r.before[l.id]; ok {
					l.business = was
				}
			}, "as it was before")
		})},
		{"other type", 3, false, func(r *run, a, b int) string {
			return edit(func(r *run, lines *[]line, a, b int) string {
				return typed(at(lines, a), func(l *line) { l.typ = types[b/2%2] }, "another order type")
			})(r, a, b-b%2)
		}},
		{"spell", 4, false, edit(func(r *run, lines *[]line, a, b int) string {
			for i := range *lines {
				if b%4 < 2 || i == a%len(*lines) {
					(*lines)[i].style = a / 2 % len(spellings)
				}
			}
			return "numbers are written in another way"
		})},
		{"hide", 4, false, edit(func(r *run, lines *[]line, a, b int) string {
			return typed(at(lines, a), func(l *line) { l.hidden = true }, "is filtered out")
		})},
		{"show", 4, false, edit(func(r *run, lines *[]line, a, b int) string {
			for i := range *lines {
				(*lines)[i].hidden = false
			}
			return "the filter shows all"
		})},
		{"cancel", 3, false, edit(func(r *run, lines *[]line, a, b int) string {
			return typed(at(lines, a), func(l *line) { l.cancelled = !l.cancelled }, "is cancelled, or not any more")
		})},
		{"other contract", 3, false, func(r *run, a, b int) string {
			l, c := at(&r.children, a), at(&r.contracts, b)
			if l == nil || c == nil {
				return ""
			}
			l.parent, l.ref = c.id, c.spelled()
			r.committed(false)
			return fmt.Sprintf("%v hangs on %v now", l.business, c.business)
		}},
		{"copy", 4, false, func(r *run, a, b int) string {
			r.copies = [2][]line{slices.Clone(r.contracts), slices.Clone(r.children)}
			return "a copy of the tables is kept"
		}},
		{"restore", 4, false, func(r *run, a, b int) string {
			if r.copies[0] == nil {
				return ""
			}
			r.contracts, r.children = slices.Clone(r.copies[0]), slices.Clone(r.copies[1])
			r.committed(true)
			return "the old copy is restored"
		}},

		// People who configure.
		{"rename", 3, false, func(r *run, a, b int) string {
			j := &r.jobs[a%len(r.jobs)]
			was := *j
			r.gone = append(r.gone, was)
			j.name = r.jobName(j.kind)
			r.look()
			return fmt.Sprintf("the job %s is called %s from now on", was.name, j.name)
		}},
		{"split job", 3, false, func(r *run, a, b int) string {
			if r.second() {
				return ""
			}
			if b%2 == 0 {
				r.gone = append(r.gone, r.jobs[0])
				r.jobs[0].name = r.jobName(trade.OrderCommitments)
			}
			r.jobs[0].part = 1
			return "the job of contracts is split by order type" + r.addJob(2, a)
		}},
		{"overlap", 1, false, func(r *run, a, b int) string {
			if r.second() {
				return ""
			}
			return "a second job reads the same contracts" + r.addJob(a%3, b)
		}},
		{"merge jobs", 4, false, func(r *run, a, b int) string {
			if !r.second() {
				return ""
			}
			keep := r.jobs[a%2]
			r.gone = append(r.gone, r.jobs[1-a%2])
			if b%3 == 0 {
				r.gone = append(r.gone, keep)
				keep.name = r.jobName(trade.OrderCommitments)
			}
			keep.part = 0
			r.jobs = slices.Replace(r.jobs, 0, 2, keep)
			r.look()
			return "one job reads all contracts again: " + keep.name
		}},
		{"identity", 3, false, func(r *run, a, b int) string {
			j := &r.jobs[a%len(r.jobs)]
			if r.Child != "" && r.second() && j.kind == trade.OrderCommitments {
				return "" // a number would identify a row of each
			}
			was := *j
			j.space = 0
			if was.space == 0 || b%3 == 0 {
				j.space = r.newSpace()
			}
			if r.alone(*j) {
				r.named(j.space, was.space)
			}
			r.moved(was, *j) // what it has sent moves with it
			r.look()
			return fmt.Sprintf("the keys of the job %s are of the space %q, and were of %q", j.name, identity(j.space),
				identity(was.space))
		}},
		{"map", 4, false, func(r *run, a, b int) string {
			if r.unread { // as the manual says
				return ""
			}
			field := []string{"price", "initial_delivery_date", "car", "farm_id"}[a%4]
			r.unmapped[field] = !r.unmapped[field]
			return fmt.Sprintf("%s is mapped: %v", field, !r.unmapped[field])
		}},
		{"codes", 2, true, func(r *run, a, b int) string { return r.codes(anyCode) }},

		// People who decide.
		{"person", 6, false, (*run).person},
		{"acknowledge", 2, false, (*run).acknowledge},
		{"move", 8, false, (*run).move},
		{"release", 3, false, (*run).release},
	}
	steps = append(steps, scenery()...)
}

// edit returns a step that changes a table: that of the children if b is odd and there are
// children.
func edit(change func(r *run, lines *[]line, a, b int) string) func(*run, int, int) string {
	return func(r *run, a, b int) string {
		text := change(r, r.pick(b), a, b/2)
		if text != "" {
			r.committed(false)
		}
		return text
	}
}

func typed(l *line, change func(*line), text string) string {
	if l == nil {
		return ""
	}
	was := l.business
	change(l)
	return fmt.Sprintf("%v: %s", was, text)
}

// second reports whether two jobs read contracts.
func (w *world) second() bool { return len(w.jobs) > 1 && w.jobs[1].kind == trade.OrderCommitments }

// addJob adds a second job of contracts: in the space of the first one, or in its own space.
func (r *run) addJob(part, a int) string {
	j := job{name: r.jobName(trade.OrderCommitments), kind: trade.OrderCommitments, part: part, space: r.jobs[0].space}
	text := ""
	if a%3 == 0 && r.Child == "" { // a number would identify a row of each
		j.space = r.newSpace()
		text = ", with keys of the space " + identity(j.space)
	}
	r.jobs = slices.Insert(r.jobs, 1, j)
	r.look()
	return text
}

// alone reports whether no other job has, or had, the kind of j.
func (w *world) alone(j job) bool {
	other := func(o job) bool { return o.kind == j.kind && o.name != j.name }
	return !slices.ContainsFunc(w.jobs, other) && !slices.ContainsFunc(w.gone, other)
}

func (w *world) newSpace() int {
	w.spaces++
	return w.spaces
}

func identity(space int) string {
	if space == 0 {
		return ""
	}
	return fmt.Sprintf("erp%d", space)
}

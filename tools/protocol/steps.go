package protocol

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// model generates the steps between worlds, within limits and under a set of rules.
type model struct {
	limits
	rules    rule
	verdicts []verdict
	push     func(w world, label string, args ...any)
}

func (p *model) has(r rule) bool { return p.rules&r != 0 }

// claimed reports whether the model makes a move in a step with conditions. Any other move of the
// table may be made at any time, because a row, a reference or the time has changed.
func claimed(from, to trade.State) bool {
	switch {
	case from == trade.Sending:
		return slices.Contains([]trade.State{trade.Pending, trade.Accepted, trade.Rejected, trade.InDoubt, trade.Held},
			to)
	case from == trade.InDoubt:
		return slices.Contains([]trade.State{
			trade.Pending, trade.Accepted, trade.Rejected, trade.Held,
			trade.Dismissed,
		}, to)
	case from == trade.Accepted:
		return false
	}
	return from == trade.Dismissed || to == trade.Dismissed || to == trade.Accepted || to == trade.Sending
}

// steps pushes every world that can follow w.
func (p *model) steps(w world) {
	for i := range p.workers {
		p.work(w, i)
		p.takeOver(w, i)
	}
	p.recover(w)
	p.platform(w)
	p.person(w)
	p.others(w)
	p.backup(w)
	if p.timed {
		p.pass(w)
	}
}

// others makes the moves for which the model has no conditions.
func (p *model) others(w world) {
	from := trade.States[w.state]
	moves := trade.Moves[from]
	if !p.has(movesKept) && w.is(trade.InDoubt) {
		moves = []trade.State{trade.Waiting}
	}
	for _, to := range moves {
		if !claimed(from, to) {
			n := w
			n.state = stateNo(to)
			p.push(n, "the entry becomes %s", to)
		}
	}
}

// work pushes what a worker may do next.
func (p *model) work(w world, i int) {
	me := &w.workers[i]
	switch me.at {
	case workerIdle:
		if int(w.leader) == i && w.is(trade.Pending) {
			n := w
			n.workers[i] = worker{at: workerLooked, gen: w.gen}
			p.push(n, "worker %d looks at the entry of generation %d", i, w.gen)
		}
	case workerLooked:
		p.claim(w, i)
	case workerIntent:
		p.send(w, i)
	case workerWire:
		p.listen(w, i)
	case workerAnswer:
		n := w
		n.settle(i, p.verdicts[me.verdict])
		n.workers[i] = worker{}
		p.push(n, "worker %d stores: %s", i, p.verdicts[me.verdict].name)
	}
	if me.at != workerIdle && int(w.crashes) < p.crashes {
		n := w
		n.workers[i] = worker{}
		n.crashes++
		if me.record == recordOpen && me.gen == w.gen && w.is(trade.Sending) {
			n.left = p.leaves(me)
		}
		p.push(n, "worker %d is killed", i)
	}
}

// leaves returns what a process that ends leaves behind of an open attempt.
func (p *model) leaves(me *worker) int8 {
	switch {
	case me.at == workerIntent, me.at == workerWire && !p.has(markedFirst):
		return leftUnsent
	case me.at == workerAnswer && p.verdicts[me.verdict].outcome != trade.OutcomeUnknown:
		return leftAnswer + me.verdict
	}
	return leftSent
}

// claim stores the intent, or is refused. The answer of the commit may be lost.
func (p *model) claim(w world, i int) {
	n := w
	me := &n.workers[i]
	g := me.gen - 1
	refused := p.has(fenced) && me.stale ||
		p.has(compareAndSet) && (!w.is(trade.Pending) || w.gen != me.gen) ||
		p.has(oneShot) && w.may[g] > 0
	if !refused && !n.put(trade.Sending) {
		refused = true
	}
	if refused {
		n = w
		n.workers[i] = worker{}
		if me := w.workers[i]; me.record == recordNone && me.age > 0 { // it sent before it had an intent
			n.workers[i] = worker{at: workerWire, gen: me.gen, record: recordClosed}
		}
		p.push(n, "the intent of worker %d is refused", i)
		return
	}
	n.may[g]++
	n.left = leftNothing
	n.current = !me.stale
	me.record = recordOpen
	sure := n
	sure.workers[i].at, sure.workers[i].age = workerIntent, 0
	if !p.has(intentFirst) && me.age > 0 {
		sure.workers[i].at = workerWire
	}
	p.push(sure, "worker %d makes its intent durable, generation %d", i, me.gen)
	if p.has(intentFirst) {
		unsure := n
		unsure.workers[i].at, unsure.workers[i].verdict = workerAnswer, verdictNotSent
		p.push(unsure, "the intent of worker %d is durable, but the answer of the commit is lost: it sends nothing", i)
	} else if me.age == 0 {
		early := w
		early.workers[i].age = 1
		early.under[g]++
		p.push(early, "worker %d SENDS generation %d before its intent", i, me.gen)
	}
}

// send sends the first byte, unless the window is over.
func (p *model) send(w world, i int) {
	n := w
	me := &n.workers[i]
	late := me.age > windowTicks
	if !late || !p.has(windowChecked) {
		me.at, me.age = workerWire, 0
		n.under[me.gen-1]++
		if n.under[me.gen-1] == 1 {
			n.underAge[me.gen-1] = 0
		}
		p.push(n, "worker %d SENDS generation %d", i, me.gen)
	}
	n = w
	n.workers[i].at, n.workers[i].verdict = workerAnswer, verdictNotSent
	p.push(n, "worker %d gives up unsent", i)
	if !late && !p.timed {
		n = w
		n.workers[i].age = windowTicks + 1
		p.push(n, "worker %d stalls until its window is over", i)
	}
}

// listen pushes the possible outcomes of a request in flight.
func (p *model) listen(w world, i int) {
	me := w.workers[i]
	g := me.gen - 1
	for no, v := range p.verdicts {
		if no == verdictNotSent {
			continue
		}
		n := w
		n.workers[i].at, n.workers[i].verdict = workerAnswer, int8(no)
		if v.created && v.absent { // whatever the platform does with the request, at any time
			p.push(n, "worker %d gets an answer that proves nothing (%s)", i, v.name)
		}
		if w.under[g] == 0 {
			continue
		}
		n.under[g]--
		if v.absent && !v.created {
			p.push(n, "the platform refuses generation %d: worker %d gets %s", me.gen, i, v.name)
		}
		if v.created && !v.absent {
			n.created++
			p.push(n, "the platform CREATES generation %d: worker %d gets %s", me.gen, i, v.name)
		}
	}
}

// settle stores the outcome of an attempt, as package state does: whoever holds the lease (I12).
func (w *world) settle(i int, v verdict) {
	a := &w.workers[i]
	g := a.gen - 1
	created := v.outcome == trade.OutcomeCreated
	certainlyNot := v.outcome == trade.OutcomeNotCreated || v.outcome == trade.OutcomeNotSent
	switch {
	case a.record == recordOpen:
	case a.record == recordUnknown && (created || certainlyNot):
	default:
		return
	}
	switch {
	case certainlyNot:
		w.may[g]--
	case created:
		w.made[g]++
	}
	on := a.gen == w.gen && (w.is(trade.Sending) || w.is(trade.InDoubt))
	switch {
	case on && certainlyNot && w.madeBefore(a.gen):
		w.put(trade.Accepted)
	case on:
		if w.put(v.state) && v.state == trade.InDoubt {
			w.doubted = 0
		}
	case w.is(trade.Accepted) || !created:
	case a.gen == w.gen:
		w.put(trade.Accepted)
	case w.mayAfter(a.gen): // reported as a double
	default:
		w.put(trade.Accepted)
	}
}

func (w *world) madeBefore(gen int8) bool {
	return slices.ContainsFunc(w.made[:gen-1], func(n int8) bool { return n > 0 })
}

func (w *world) mayAfter(gen int8) bool {
	return slices.ContainsFunc(w.may[gen:], func(n int8) bool { return n > 0 })
}

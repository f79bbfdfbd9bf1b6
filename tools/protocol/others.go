package protocol

import (
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// takeOver gives the lease to a worker: to another one at any time, to the same one only after its
// end.
func (p *model) takeOver(w world, i int) {
	if int(w.leader) == i && w.workers[i].at != workerIdle {
		return
	}
	n := w
	n.leader, n.current = int8(i), false
	for k := range n.workers {
		if n.workers[k].at == workerLooked {
			n.workers[k].stale = true
		}
	}
	p.push(n, "worker %d takes the job over", i)
}

// recover settles what an earlier epoch left in state sending: as its process noted, or as in doubt
// if its note cannot be read.
func (p *model) recover(w world) {
	if !w.is(trade.Sending) || w.current {
		return
	}
	p.recoverNoted(w)
	n := w
	n.left = leftNothing
	to := int8(recordUnknown)
	if p.has(recoveryDoubts) {
		n.put(trade.InDoubt)
		n.doubted = 0
	} else {
		n.put(trade.Pending)
		n.may[w.gen-1]--
		to = recordClosed
	}
	for k := range n.workers {
		if n.workers[k].record == recordOpen && n.workers[k].gen == w.gen {
			n.workers[k].record = to
		}
	}
	p.push(n, "the recovery makes it %s", trade.States[n.state])
}

// recoverNoted settles what the notes of the process prove.
func (p *model) recoverNoted(w world) {
	n := w
	n.left = leftNothing
	unsent := w.left == leftUnsent
	for k := range n.workers {
		if a := &n.workers[k]; !p.has(provedDead) && a.at == workerIntent && a.record == recordOpen && a.gen == w.gen {
			unsent, a.record = true, recordClosed
		}
	}
	switch {
	case unsent, w.left >= leftAnswer && p.verdicts[w.left-leftAnswer].outcome != trade.OutcomeCreated:
		n.may[w.gen-1]--
		n.put(trade.Pending)
	case w.left >= leftAnswer:
		n.made[w.gen-1]++
		n.put(trade.Accepted)
	default:
		return
	}
	p.push(n, "the recovery knows from the notes of the process: %s", trade.States[n.state])
}

// platform executes or loses a request whose answer nobody receives.
func (p *model) platform(w world) {
	for g := range w.under {
		if w.under[g] == 0 {
			continue
		}
		n := w
		n.under[g]--
		p.push(n, "the request of generation %d is lost", g+1)
		n.created++
		p.push(n, "the platform CREATES generation %d, and its answer is lost", g+1)
	}
}

// person checks the platform and decides.
func (p *model) person(w world) {
	if w.is(trade.Dismissed) {
		n := w
		if n.put(trade.InDoubt) {
			p.push(n, "the person reopens it")
		}
	}
	if !w.is(trade.InDoubt) {
		return
	}
	n := w
	if n.put(trade.Dismissed) {
		p.push(n, "the person dismisses it")
	}
	if p.has(quarantined) && !p.over(w) {
		return
	}
	n = w
	if w.created > 0 {
		if n.put(trade.Accepted) {
			p.push(n, "the person finds it and gives its id")
		}
	} else if int(w.gen) < p.generations && n.put(trade.Pending) {
		n.gen++
		p.push(n, "the person does not find it and sends it again")
	}
}

// over reports whether the quarantine is over.
func (p *model) over(w world) bool {
	if p.timed {
		return int(w.doubted) >= p.quarantineTicks()
	}
	for _, a := range w.workers {
		if a.at == workerIntent && a.age <= windowTicks {
			return false
		}
	}
	return w.under == [maxGenerations]int8{}
}

func (p *model) quarantineTicks() int { return int(p.quarantine / tick) }

// backup copies the ledger once, and restores the copy once. No process runs then, and everything
// stored since the copy is lost, except the journal.
func (p *model) backup(w world) {
	if !p.rollback {
		return
	}
	if !w.copied.taken {
		n := w
		n.copied = copyOf{true, w.state, w.gen, w.may, w.made}
		p.push(n, "somebody copies the ledger")
		return
	}
	if w.restored {
		return
	}
	n := w
	n.restored, n.workers, n.current, n.left = true, [3]worker{}, false, leftNothing
	n.state, n.gen, n.may, n.made = w.copied.state, w.copied.gen, w.copied.may, w.copied.made
	if p.has(journalled) && (w.may != n.may || w.made != n.made || w.gen != n.gen) {
		n.state, n.gen, n.may, n.made = w.state, w.gen, w.may, w.made // rebuilt from the journal
		if w.is(trade.Sending) {
			n.state, n.doubted = stateNo(trade.InDoubt), 0
		}
	}
	n.copied = copyOf{taken: true}
	p.push(n, "somebody restores the copy: %s, generation %d", trade.States[n.state], n.gen)
}

// pass lets one tick of time pass, unless a deadline forbids it.
func (p *model) pass(w world) {
	n := w
	for i := range n.workers {
		a := &n.workers[i]
		if a.at == workerIntent {
			a.age = min(a.age+1, windowTicks+1)
		}
	}
	for g := range n.under {
		if n.under[g] == 0 {
			continue
		}
		// The platform executes a request within one time-out after the client stopped waiting for
		// it, or never.
		n.underAge[g]++
		if n.underAge[g] > 2*timeoutTicks {
			return
		}
	}
	if w.is(trade.InDoubt) || w.is(trade.Dismissed) {
		n.doubted = int8(min(int(n.doubted)+1, p.quarantineTicks()))
	}
	p.push(n, "%s pass", tick)
}

// fault returns what is wrong with a world, or "".
func (w *world) fault() string {
	switch {
	case w.created > 1:
		return twice
	case w.is(trade.Accepted) && w.created == 0:
		return "it is accepted, and the platform has no record"
	case w.created > 0 && w.under == [maxGenerations]int8{} && (w.is(trade.Pending) || w.is(trade.Rejected)) &&
		!w.anybodyKnows():
		return fmt.Sprintf("it is %s, and the platform has a record that nobody knows of", trade.States[w.state])
	}
	return ""
}

// anybodyKnows reports whether the ledger, or a worker that has not stored its result yet, knows
// that there may be a record.
func (w *world) anybodyKnows() bool {
	if slices.ContainsFunc(w.may[:], func(n int8) bool { return n > 0 }) {
		return true
	}
	return slices.ContainsFunc(w.workers[:], func(a worker) bool { return a.at == workerWire || a.at == workerAnswer })
}

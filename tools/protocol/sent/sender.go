package sent

import "github.com/safrasync/safrasync/trade"

// model generates the steps between worlds, within limits and under a set of rules.
type model struct {
	limits
	rules rule
	push  push[world]
	moves map[[2]trade.State]bool // of the shown state, in worlds without a roll-back
}

func (p *model) has(r rule) bool { return p.rules&r != 0 }

// steps pushes every world that can follow w.
func (p *model) steps(w world, add push[world]) {
	p.push = func(n world, label string, args ...any) {
		if !p.rollback {
			n.version = 0
		}
		if !n.restored {
			p.moves[[2]trade.State{w.shown(), n.shown()}] = true
		}
		add(n, label, args...)
	}
	if p.rollback && int(w.version) > p.changes {
		return
	}
	for i := range w.workers {
		p.work(w, i)
		p.takeOver(w, i)
	}
	p.recover(w)
	p.platform(w)
	if p.people {
		p.personReads(w)
		p.personCommits(w)
	}
	if p.sweeps {
		p.sweepReads(w)
		p.sweepCommits(w)
	}
	if !p.has(oneSnapshot) {
		p.list(w)
	}
	if p.rollback {
		p.backup(w)
	}
}

// takeOver gives the lease to a worker.
func (p *model) takeOver(w world, i int) {
	if int(w.leader) == i {
		return
	}
	w.leader = int8(i)
	for k := range w.workers {
		w.workers[k].stale = w.workers[k].at != workerIdle
	}
	p.push(w, "host %d takes the job over", i)
}

// work pushes what a worker may do next.
func (p *model) work(w world, i int) {
	me := w.workers[i]
	n := w
	switch me.at {
	case workerIdle:
		if int(w.leader) != i || w.shown() != trade.Pending || int(w.used) == p.attempts || !p.trusts(&w, i) {
			return
		}
		n.workers[i] = worker{at: workerRead, gen: w.gen, former: w.current(w.gen), fresh: true}
		p.push(n, "host %d reads the entry of generation %d", i, w.gen)
	case workerRead:
		p.claim(w, i)
	case workerClaims:
		p.store(w, i)
	case workerUnsure:
		p.repeat(w, i)
	case workerIntent:
		p.send(w, i)
	case workerWire:
		p.listen(w, i)
	case workerAnswer:
		v := verdicts[me.verdict]
		p.settle(&n, i, me.attempt, me.gen, me.fresh, v)
		if n.version != w.version && !p.calm {
			p.push(n, "host %d stores of attempt %d: %s, but the answer of the commit is lost", i, me.attempt, v.name)
		}
		n.workers[i] = worker{}
		p.push(n, "host %d stores of attempt %d: %s", i, me.attempt, v.name)
	}
	if me.at == workerUnsure || me.at == workerIntent {
		n = w
		n.workers[i].at, n.workers[i].verdict = workerAnswer, 0
		p.push(n, "host %d gives attempt %d up unsent", i, me.attempt)
		if !me.late && !p.calm {
			n = w
			n.workers[i].late = true
			p.push(n, "host %d stalls until its window is over", i)
		}
	}
	if me.at != workerIdle && !p.calm {
		n = w
		n.workers[i] = worker{}
		p.push(n, "host %d is killed", i)
	}
}

// claim runs the first statement of a claim. If it changes the entry, the entry is locked until the
// commit, so that no other transaction comes between.
func (p *model) claim(w world, i int) {
	n := w
	me := &n.workers[i]
	refused := me.stale || !p.trusts(&w, i)
	if p.has(claimCompares) && (!me.fresh || w.raw() != trade.Pending || w.gen != me.gen) {
		refused = true
	}
	if refused {
		n.workers[i] = worker{}
		p.push(n, "the claim of host %d is refused", i)
		return
	}
	if p.has(claimRaises) {
		p.store(w, i)
		return
	}
	me.at = workerClaims
	p.push(n, "host %d finds the entry as it was, and does not change it", i)
}

// store inserts or re-opens the sent, and commits.
func (p *model) store(w world, i int) {
	n := w
	me := &n.workers[i]
	s := &n.sents[me.gen-1]
	now := n.current(me.gen)
	refused := now != me.former
	if now > 0 && p.has(voidOnly) {
		was := n.attempts[now-1].outcome
		refused = refused || was != notSent && was != notCreated
	}
	if s.certainty != absent && s.certainty != void && p.has(voidOnly) {
		refused = true
	}
	if refused {
		n.workers[i] = worker{}
		p.push(n, "the claim of host %d finds another sent", i)
		return
	}
	if me.request == 0 {
		if int(n.used) == p.attempts {
			return
		}
		n.used++
		me.request, me.attempt = n.used, n.used
		if now > 0 && !p.has(newAttemptID) {
			me.attempt = now
		}
		n.requests[me.request-1].attempt = me.attempt
		me.at = workerUnsure
		if unstored := n; !p.calm {
			p.push(unstored, "the commit of the claim of host %d fails, and its answer is lost, too", i)
		}
	}
	if now > 0 && now != me.attempt {
		n.attempts[now-1].listed = true
		if !p.has(formerListed) {
			n.attempts[now-1] = attempt{}
		}
	}
	s.certainty = maybe
	n.attempts[me.attempt-1] = attempt{gen: me.gen, outcome: open}
	if p.has(claimRaises) {
		n.touch()
		me.fresh = true
	}
	p.note(&n, i)
	if unsure := n; !p.calm {
		unsure.workers[i].at = workerUnsure
		p.push(unsure, "host %d claims attempt %d of generation %d, but the answer of the commit is lost", i,
			me.attempt, me.gen)
	}
	me.at = workerIntent
	p.push(n, "host %d claims attempt %d of generation %d", i, me.attempt, me.gen)
}

// repeat makes the same call again whose answer was lost.
func (p *model) repeat(w world, i int) {
	n := w
	me := &n.workers[i]
	a := w.attempts[me.attempt-1]
	switch {
	case a.gen == 0:
		me.at = workerRead
		p.push(n, "host %d repeats the claim of attempt %d, which was not stored", i, me.attempt)
		return
	case me.stale && p.has(repeatEpoch), (a.outcome != open || a.listed) && p.has(repeatOpen):
		n.workers[i] = worker{}
		p.push(n, "host %d repeats the claim of attempt %d, and has not got it", i, me.attempt)
		return
	}
	me.at = workerIntent
	p.push(n, "host %d repeats the claim of attempt %d, and finds it stored", i, me.attempt)
}

// send sends the first byte, unless the window is over.
func (p *model) send(w world, i int) {
	n := w
	me := &n.workers[i]
	if me.late && p.has(window) {
		return
	}
	me.at, me.late = workerWire, false
	n.requests[me.request-1].fate = requestUnder
	others := 0
	for k, a := range w.attempts {
		if int8(k+1) != me.attempt && a.gen > 0 && a.own == 0 && (a.outcome == unknown || a.outcome == created) {
			others++
		}
	}
	switch {
	case w.raw() == trade.Accepted || w.raw() == trade.Dismissed:
		n.blame(posted)
	case others > int(w.orders):
		n.blame(again)
	}
	p.push(n, "host %d SENDS attempt %d", i, me.attempt)
}

// listen pushes the possible answers to a request in flight.
func (p *model) listen(w world, i int) {
	me := w.workers[i]
	under := w.requests[me.request-1].fate == requestUnder
	for no, v := range verdicts {
		n := w
		fate := &n.requests[me.request-1].fate
		n.workers[i].at, n.workers[i].verdict = workerAnswer, int8(no)
		switch {
		case v.outcome == notSent, v.outcome == weak && !p.weak, v.outcome == exists && !p.exists:
		case v.outcome == unknown, v.outcome == weak:
			p.push(n, "host %d gets an answer that proves nothing (%s)", i, v.name)
		case !under:
		case v.outcome == created:
			*fate = requestMade
			p.push(n, "the platform CREATES attempt %d: host %d gets %s", me.attempt, i, v.name)
		case v.outcome != exists || w.foreign > 0 || len(w.onPlatform()) > 0:
			*fate = requestGone
			p.push(n, "the platform refuses attempt %d: host %d gets %s", me.attempt, i, v.name)
			if p.lies {
				*fate = requestLied
				p.push(n, "the platform CREATES attempt %d, and yet host %d gets %s", me.attempt, i, v.name)
			}
		}
	}
}

// platform executes or loses a request whose answer nobody receives, and tells later of a record.
func (p *model) platform(w world) {
	for r, of := range w.requests {
		n := w
		switch of.fate {
		case requestUnder:
			n.requests[r].fate = requestGone
			p.push(n, "the request of attempt %d is lost", of.attempt)
			n.requests[r].fate = requestMade
			p.push(n, "the platform CREATES attempt %d, and its answer is lost", of.attempt)
		case requestMade, requestLied:
			a := w.attempts[of.attempt-1]
			if !p.told || a.outcome == created || a.own > 0 {
				continue
			}
			n.requests[r].fate = requestMade
			p.settle(&n, int(w.leader), of.attempt, a.gen, false, verdicts[1])
			p.push(n, "evidence comes that attempt %d created a record", of.attempt)
		}
	}
	if p.foreign && w.foreign == 0 {
		w.foreign = 1
		p.push(w, "somebody types the document on the platform")
	}
}

// list counts open sents first and states later, as two statements without a common snapshot do.
func (p *model) list(w world) {
	n := w
	if w.counted && w.raw() != trade.Pending {
		n.blame(sums)
		p.push(n, "the list counts the states")
	}
	n.counted = w.anyOpen()
	if n.counted {
		p.push(n, "a list counts the open sents")
	}
}

package sent

import "github.com/safrasync/safrasync/trade"

// settle stores what is known of an attempt. fresh reports whether the sender knows the version of
// the entry; then both statements of the fast path fit.
func (p *model) settle(w *world, host int, id, gen int8, fresh bool, v verdict) {
	l := &w.ledger
	before := l.raw()
	at := id
	switch a := l.attempts[id-1]; {
	case v.outcome == created && p.has(answersKept) && (a.gen == 0 && w.restored || !p.trusts(w, host)):
		w.kept[id-1] = true
		return
	case !p.has(byAttempt), a.gen == 0 && !p.has(neverStored):
		at = l.current(gen)
	case a.gen == 0:
		return
	case a.listed && !p.has(listedApart):
		at = l.current(a.gen)
	}
	if at == 0 {
		return
	}
	changed := p.judge(w, at, fresh, v)
	if changed {
		w.guard(before)
		p.note(w, host)
	}
	if p.rollback && !p.has(notedAsDone) {
		w.journals[host].put(v.state)
	}
}

// guard notices a decision of a person that was undone by something else.
func (w *world) guard(before trade.State) {
	now := w.raw()
	decided := before == trade.Accepted || before == trade.Dismissed
	if decided && now != before && now != trade.Accepted {
		w.blame(undone)
	}
}

// judge applies an outcome to its attempt and to the entry, and reports whether anything changed.
func (p *model) judge(w *world, at int8, fresh bool, v verdict) bool {
	l := &w.ledger
	a := &l.attempts[at-1]
	was := a.outcome
	sentFits := !a.listed && was == open
	entryFits := fresh && l.raw() == trade.Pending && a.gen == l.gen
	switch {
	case sentFits && entryFits:
		l.set(at, v.outcome)
		l.put(v.state)
		w.touch()
		return true
	case entryFits && !p.has(bothFit):
		l.put(v.state)
		w.touch()
		return true
	case sentFits && (!p.has(bothFit) || !p.has(outcomeBefore)):
		// It is done, or taken for what was stored before.
		l.set(at, v.outcome)
		return true
	case was == open, was == unknown && v.outcome != unknown:
	case was == v.outcome, was == unknown, was == created && p.has(certainStays):
		return false
	case v.outcome == created:
		return a.own == 0 && p.late(w, at)
	case p.has(certainStays):
		return false
	}
	p.becomes(w, at, v)
	return true
}

// late gives the record of an attempt that was judged not created a sent of its own.
func (p *model) late(w *world, at int8) bool {
	l := &w.ledger
	own := l.free()
	if !p.has(ownSent) || own == 0 {
		return false
	}
	l.sents[own-1].certainty = made
	l.attempts[at-1].own = own
	l.flag = true
	raised := p.has(lateRaises)
	if !l.anyOpen() && l.raw() != trade.Accepted {
		l.put(trade.Accepted)
		raised = true
	}
	if raised {
		w.touch()
	}
	return true
}

// becomes decides what an outcome that did not fit does to the entry: see the function of this name
// in package state.
func (p *model) becomes(w *world, at int8, v verdict) {
	l := &w.ledger
	a := &l.attempts[at-1]
	shown, state := l.shown(), l.raw()
	ours := a.gen == l.gen && (a.outcome == open && state == trade.Pending || state == trade.InDoubt)
	isCreated, not := v.outcome == created, v.outcome != created && v.outcome != unknown
	left := l.others(at)
	if mayExist(v.outcome) {
		left++
	}
	others := l.elsewhere(at)
	l.set(at, v.outcome)
	if isCreated && !p.has(twoIDs) {
		l.sents[a.gen-1].stated = 0
	}
	switch {
	case ours && not && others > 0, state == trade.Accepted && not && others > 0:
		// Another attempt has created the record, and this one has not.
		l.put(trade.Accepted)
		l.flag = l.flag && left > 1 && p.has(oneLeft)
	case ours:
		if trade.CanMove(shown, v.state) {
			l.put(v.state)
		}
		l.flag = l.flag || isCreated && others > 0
	case !isCreated:
	case state == trade.Accepted:
		l.flag = l.flag || l.sents[a.gen-1].stated != at
	case a.gen == l.gen:
		l.put(trade.Accepted)
		l.flag = true
	case others > 0 || l.mayAfter(a.gen):
		l.flag = true
	default:
		l.put(trade.Accepted)
	}
	if p.has(lateRaises) || l.raw() != state {
		w.touch()
	}
}

// mayAfter reports whether an attempt of a later generation may have a record.
func (l *ledger) mayAfter(gen int8) bool {
	return l.any(func(a attempt) bool { return a.gen > gen && !a.listed && mayExist(a.outcome) })
}

// recover ends what dead owners left open: see [ledger.anyOpen].
func (p *model) recover(w world) {
	if w.halfway > 0 {
		n := w
		n.halfway = 0
		p.push(n, "host %d is killed between the two transactions of its recovery", w.leader)
		n.put(trade.InDoubt)
		n.touch()
		p.note(&n, int(w.leader))
		p.push(n, "the second transaction of the recovery makes the entry in doubt")
		return
	}
	if w.raw() != trade.Pending || !p.trusts(&w, int(w.leader)) {
		return
	}
	if s := w.place(); !p.has(openIsOpen) && s.certainty != absent && w.current(w.gen) == 0 {
		n := w
		n.put(trade.InDoubt)
		n.touch()
		p.push(n, "the recovery takes a sent without an attempt for an open one")
	}
	for i, a := range w.attempts {
		id := int8(i + 1)
		if a.gen == 0 || a.outcome != open || p.has(deadOnly) && !p.dead(&w, id) {
			continue
		}
		n := w
		switch {
		case !p.has(doubts):
			n.set(id, notSent)
		case !p.has(together):
			n.set(id, unknown)
			n.halfway = id
		default:
			n.set(id, unknown)
			n.put(trade.InDoubt)
		}
		n.touch()
		p.note(&n, int(w.leader))
		p.push(n, "the recovery by host %d ends attempt %d: %s", w.leader, id, n.shown())
	}
}

// dead reports whether nobody works on an attempt any more: its process has ended, or has given no
// sign of life for longer than a send window, or holds the lease anew and has no request in flight.
func (p *model) dead(w *world, id int8) bool {
	for i, k := range w.workers {
		if k.attempt != id || k.at == workerIdle {
			continue
		}
		anew := int(w.leader) == i && k.at == workerUnsure
		if !k.stale || k.at <= workerIntent && !k.late && !anew {
			return false
		}
	}
	return true
}

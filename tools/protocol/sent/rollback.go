package sent

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// note writes the image of the entry and its sents to the journal of a host, in the transaction that
// changed them.
func (p *model) note(w *world, host int) {
	if !p.rollback {
		return
	}
	if !p.has(notedFirst) {
		w.owed[host] = true
		return
	}
	w.journals[host].remember(&w.ledger)
	if w.taken && !w.restored {
		w.ahead[host] = true
	}
}

// remember takes up an image. The newest one of the entry counts; of attempts nothing is forgotten.
func (l *ledger) remember(image *ledger) {
	former := *l
	*l = *image
	for i, a := range former.attempts {
		now := &l.attempts[i]
		if a.gen > 0 && now.gen == 0 {
			*now = a
		}
		now.outcome, now.own = max(now.outcome, a.outcome), max(now.own, a.own)
	}
	for g, s := range former.sents {
		l.sents[g].stated = max(l.sents[g].stated, s.stated)
	}
}

// trusts reports whether a host may work: it knows of no journal with more than the ledger has.
func (p *model) trusts(w *world, host int) bool {
	if !w.restored || !p.has(noticed) {
		return true
	}
	for k := range w.ahead {
		if w.ahead[k] && !w.replayed[k] && (k == host || !p.blind) {
			return false
		}
	}
	return true
}

// complete reports whether the ledger has what the journals have.
func (p *model) complete(w *world) bool {
	if !p.blind {
		return !w.restored || !p.has(noticed) || p.trusts(w, 0)
	}
	return !w.restored || w.ahead == w.replayed
}

// backup copies the ledger once, restores the copy once, and replays the journals.
func (p *model) backup(w world) {
	for host, owed := range w.owed {
		if owed && !w.restored {
			n := w
			n.owed[host] = false
			n.journals[host].remember(&n.ledger)
			n.ahead[host] = n.ahead[host] || n.taken
			p.push(n, "the journal of host %d catches up", host)
		}
	}
	n := w
	switch {
	case !w.taken:
		n.copied, n.taken = w.ledger, true
		p.push(n, "somebody copies the ledger")
		return
	case !w.restored:
		n.stop()
		n.ledger, n.restored = w.copied, true
		n.lost = w.state
		p.push(n, "somebody restores the copy: %s", n.String())
		return
	}
	for host := range w.journals {
		if !w.ahead[host] || w.replayed[host] {
			continue
		}
		n := w
		n.stop()
		before := n.raw()
		n.ledger = p.merge(n.ledger, w.journals[host])
		n.replayed[host] = true
		for i, kept := range n.kept {
			if kept && n.attempts[i].gen > 0 {
				n.kept[i] = false
				p.judge(&n, int8(i+1), false, verdicts[1])
			}
		}
		if p.blind && w.replayed == [maxWorkers]bool{} && w.version > w.copied.version {
			n.guard(before) // what was decided at the host that went on
		}
		if p.complete(&n) {
			n.guard(trade.States[n.lost])
			if n.raw() == trade.Dismissed && !n.dismissed {
				n.blame(unasked)
			}
		}
		p.push(n, "the journal of host %d is replayed: %s", host, n.String())
	}
}

// stop ends all processes.
func (w *world) stop() {
	w.workers, w.person, w.sweep = [maxWorkers]worker{}, decision{}, decision{}
	w.halfway, w.counted = 0, false
}

// unordered reports whether the ledger after a replay depends on the order of the journals, or on
// how often one is read: from the ledger as it is and, before the first replay, from the copy.
func (p *model) unordered(w *world) bool {
	if !w.restored {
		return false
	}
	a, b := w.journals[0], w.journals[1]
	bases := []ledger{w.ledger}
	if w.replayed == [maxWorkers]bool{} {
		bases = append(bases, w.copied)
	}
	for _, from := range bases {
		ab := p.merge(p.merge(from, a), b)
		ba := p.merge(p.merge(from, b), a)
		if !equal(ab, ba) || !equal(p.merge(ab, a), ab) || !equal(p.merge(ba, b), ba) {
			return true
		}
	}
	return false
}

// equal compares ledgers. A sent that is void and has no attempt is as good as none.
func equal(l, k ledger) bool {
	for _, of := range []*ledger{&l, &k} {
		for g := range of.sents {
			if of.sents[g].certainty == void && of.current(int8(g+1)) == 0 {
				of.sents[g].certainty = absent
			}
		}
	}
	return l == k
}

// merge brings a ledger up to what a journal has.
func (p *model) merge(l, j ledger) ledger {
	if j.version == 0 {
		return l
	}
	out := l
	if p.has(doubtBelow) {
		l.doubt()
		j.doubt()
	}
	newer, older := j, l
	if j.version < l.version || j.version == l.version && j.state < l.state && p.has(tieBroken) {
		newer, older = l, j
	}
	out.flag = l.flag || j.flag
	out.gen = max(l.gen, j.gen)
	out.version = max(l.version, j.version)
	if !p.has(higherVersion) && newer == j {
		out.version++
	}
	for g := range out.sents {
		s := &out.sents[g]
		s.certainty, s.stated = max(s.certainty, j.sents[g].certainty), max(s.stated, j.sents[g].stated)
	}
	for i := range out.attempts {
		p.unite(&out, i, j.attempts[i])
	}
	for g := range out.sents {
		p.separate(&out, int8(g+1), &l)
	}
	out.gen = max(out.gen, out.free()-1)
	out.decide(p, newer, older)
	p.certainties(&out, newer)
	if p.has(besideFlagged) && out.any(func(a attempt) bool { return a.own > 0 }) && out.others(0) > 1 {
		out.flag = true
	}
	return out
}

// unite takes up what a journal has of an attempt.
func (p *model) unite(l *ledger, i int, b attempt) {
	a := &l.attempts[i]
	switch {
	case b.gen == 0:
	case a.gen == 0:
		*a = b
	case !p.has(outcomesJoined):
		a.outcome = b.outcome
	default:
		l.flag = l.flag || a.outcome > unknown && b.outcome > unknown && a.outcome != b.outcome
		a.gen, a.outcome = max(a.gen, b.gen), max(a.outcome, b.outcome)
		a.listed, a.own = a.listed || b.listed, max(a.own, b.own)
	}
	if a.own == 0 && a.listed && a.outcome == created {
		a.own, l.flag = l.free(), true
	}
	if a.own > 0 {
		l.sents[a.own-1].certainty = made
	}
}

// separate leaves one attempt in a generation. Those that are proved to be void go to the list; of
// those that may exist, each has a generation of its own.
func (p *model) separate(l *ledger, gen int8, before *ledger) {
	stays := int8(0)
	for i := range l.attempts {
		id := int8(i + 1)
		a := &l.attempts[i]
		if a.gen != gen || a.listed {
			continue
		}
		if stays == 0 {
			stays = id
			continue
		}
		other := &l.attempts[stays-1]
		switch {
		case !mayExist(other.outcome), other.own > 0:
			other.listed, stays = true, id
		case !mayExist(a.outcome), a.own > 0:
			a.listed = true
		case !p.has(nextGeneration):
			*a = attempt{}
		case !p.has(smallerStays) && before.attempts[i].gen == gen:
			l.move(stays)
			stays = id
		default:
			l.move(id)
		}
	}
}

// move gives an attempt the next free generation; the row counts as a double.
func (l *ledger) move(id int8) {
	to := l.free()
	l.attempts[id-1].gen, l.flag = to, true
	l.sents[to-1].certainty = maybe
}

// decide gives the entry the state that follows from two images and from all attempts.
func (l *ledger) decide(p *model, newer, older ledger) {
	l.state, l.from = newer.state, max(newer.from, older.from)
	l.settleOpen(p)
	either := func(s trade.State) bool {
		return newer.raw() == s || older.raw() == s && p.has(decisionsStay)
	}
	doubt := l.any(func(a attempt) bool { return a.gen > 0 && a.outcome == unknown })
	switch {
	case either(trade.Accepted) || l.elsewhere(0) > 0:
		l.put(trade.Accepted)
	case either(trade.Dismissed):
		l.put(trade.Dismissed)
	case doubt && p.has(doubtAfter):
		l.put(trade.InDoubt)
	case l.outcomeNow() == weak:
		l.put(trade.Rejected)
	case l.outcomeNow() == exists:
		l.put(trade.Held)
	case newer.raw() == trade.InDoubt && older.raw() == trade.InDoubt:
		l.put(trade.Rejected) // an answer that neither image had proves that there is no record
	case newer.raw() == trade.InDoubt:
		l.state = older.state
	}
}

// doubt makes an entry in doubt that was sent again while an attempt was open or unknown.
func (l *ledger) doubt() {
	open := l.any(func(a attempt) bool { return a.gen > 0 && (a.outcome == open || a.outcome == unknown) })
	if open && l.raw() != trade.Accepted && l.raw() != trade.Dismissed {
		l.put(trade.InDoubt)
	}
}

// settleOpen makes what is open unknown: nobody waits for it any more.
func (l *ledger) settleOpen(p *model) {
	for i := range l.attempts {
		if a := &l.attempts[i]; a.gen > 0 && a.outcome == open && p.has(doubtAfter) {
			a.outcome = unknown
		}
	}
}

// certainties derives the certainty of each sent from all its attempts.
func (p *model) certainties(l *ledger, newer ledger) {
	for g := range l.sents {
		s, gen := &l.sents[g], int8(g+1)
		at := l.current(gen)
		own := slices.ContainsFunc(l.attempts[:], func(a attempt) bool { return a.own == gen })
		switch {
		case !p.has(voidOfAll) && newer.sents[g].certainty != absent:
			s.certainty = newer.sents[g].certainty
		case own:
			s.certainty = made
		case at > 0 && l.attempts[at-1].outcome == created:
			s.certainty = made
		case s.stated > 0:
			s.certainty = stated
		case l.raw() == trade.Dismissed && gen == l.gen:
			s.certainty = leftOut
		case at > 0:
			s.certainty = certaintyOf(l.attempts[at-1].outcome)
		case s.certainty == leftOut:
			s.certainty = void
		}
	}
}

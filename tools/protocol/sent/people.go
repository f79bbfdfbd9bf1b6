package sent

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// The acts of people, and the changes by the engine.
const (
	actAdopt int8 = iota + 1
	actDismiss
	actReopen
	actRetry
	actChecked
	actResend
	sweepWithdraws
	sweepHolds
	sweepPends
)

var actNames = []string{
	"", "adopt", "dismiss", "reopen", "retry", "retry --checked", "resend", "withdrawal", "hold",
	"mapping anew",
}

// seen returns the state by which people and the engine decide.
func (p *model) seen(w *world) trade.State {
	if p.has(shownView) {
		return w.shown()
	}
	return w.raw()
}

// personReads plans every act that the person may order, with the platform before him.
func (p *model) personReads(w world) {
	if w.person.act != 0 || !p.trusts(&w, int(w.leader)) {
		return
	}
	state, outcome, records := p.seen(&w), w.outcomeNow(), w.onPlatform()
	plan := func(act, id int8, label string, args ...any) {
		n := w
		n.person = decision{act: act, id: id, fresh: true}
		p.push(n, "a person sees "+string(state)+" and "+label, args...)
	}
	onlyPerson := outcome == weak || outcome == exists
	if slices.Contains(trade.Decidable, state) {
		plan(actDismiss, 0, "plans to dismiss it")
		if len(records) > 0 {
			plan(actAdopt, records[0], "finds record %d", records[0])
		}
		if w.foreign > 0 {
			plan(actAdopt, byHand, "finds the record typed by hand")
		}
	}
	switch {
	case state == trade.Dismissed:
		plan(actReopen, 0, "plans to reopen it")
	case state == trade.Rejected && !onlyPerson:
		plan(actRetry, 0, "plans to retry it")
	case (state == trade.Rejected || state == trade.Held) && onlyPerson && len(records) == 0:
		plan(actChecked, 0, "does not find it on the platform")
	case state == trade.InDoubt && len(records) == 0 && p.over(&w):
		plan(actResend, 0, "does not find it on the platform after the quarantine")
	}
	if state == trade.InDoubt && !p.has(quarantineOf) && !w.place().waited && p.over(&w) {
		n := w
		n.place().waited = true
		p.push(n, "the quarantine of generation %d is over", w.gen)
	}
}

// over reports whether the quarantine of all attempts of the row is over.
func (p *model) over(w *world) bool {
	if !p.has(quarantineOf) && w.place().waited {
		return true
	}
	under := slices.ContainsFunc(w.requests[:], func(r request) bool { return r.fate == requestUnder })
	return !under && !slices.ContainsFunc(w.workers[:], func(k worker) bool {
		return (k.at == workerIntent || k.at == workerUnsure) && !k.late
	})
}

// allowed reports whether the database takes a change of the entry that was read earlier.
func (p *model) allowed(w *world, d decision, to trade.State) bool {
	if !p.trusts(w, int(w.leader)) {
		return false
	}
	return (d.fresh || !p.has(actCompares)) && (!w.anyOpen() || !p.has(openLocked)) && trade.CanMove(w.raw(), to)
}

// personCommits stores the act that was planned.
func (p *model) personCommits(w world) {
	d := w.person
	if d.act == 0 {
		return
	}
	n := w
	n.person = decision{}
	to := map[int8]trade.State{
		actAdopt: trade.Accepted, actDismiss: trade.Dismissed, actRetry: trade.Pending,
		actChecked: trade.Pending, actResend: trade.Pending, actReopen: p.reopened(&w.ledger),
	}[d.act]
	if !p.allowed(&w, d, to) {
		p.push(n, "the order to %s is refused", actNames[d.act])
		return
	}
	s := n.place()
	switch d.act {
	case actAdopt:
		s.certainty, s.stated = max(s.certainty, stated), d.id
		if d.id == byHand {
			n.foreign = 2
		}
	case actDismiss:
		n.from, n.dismissed = n.state, p.rollback
		if s.certainty < leftOut {
			s.certainty = leftOut
		}
	case actReopen:
		n.from = 0
		if s.certainty == leftOut {
			s.certainty = void
			if at := n.current(n.gen); at > 0 {
				s.certainty = certaintyOf(n.attempts[at-1].outcome)
			}
		}
	case actChecked, actResend:
		if d.act == actChecked && !p.has(orderedAnew) {
			s.certainty = void
			n.attempts[n.current(n.gen)-1].outcome = notCreated
			break
		}
		n.gen = n.free()
		n.orders++
		if d.act == actChecked {
			n.unproved++
		}
		if n.gen == 0 {
			return
		}
	}
	n.put(to)
	n.touch()
	if w.restored && w.state == w.lost {
		n.lost = n.state // the decision that was lost is there again, and a person changes it
	}
	if p.rollback && !p.has(voided) {
		refused := w
		refused.person = decision{}
		p.note(&n, int(w.leader))
		refused.journals, refused.ahead = n.journals, n.ahead
		p.push(refused, "the journal has the order to %s, and its commit is refused", actNames[d.act])
	}
	p.note(&n, int(w.leader))
	p.push(n, "the order to %s is stored: %s, generation %d", actNames[d.act], to, n.gen)
}

// reopened returns the state in which a dismissed row comes back: that from which it was dismissed,
// see [trade.Entry.Reopen], unless an attempt says otherwise.
func (p *model) reopened(l *ledger) trade.State {
	was, outcome := trade.States[l.from], l.outcomeNow()
	known := p.has(reopenKnows)
	switch {
	case outcome == unknown:
		return trade.InDoubt
	case known && l.elsewhere(0) > 0:
		return trade.Accepted
	case was == trade.InDoubt, known && outcome == weak:
		return trade.Rejected
	case known && outcome == exists:
		return trade.Held
	}
	return was
}

// sweepReads plans what the engine may do with the row as the ERP has it.
func (p *model) sweepReads(w world) {
	if !p.trusts(&w, int(w.leader)) {
		return
	}
	n := w
	n.touch()
	p.note(&n, int(w.leader))
	p.push(n, "the engine notes that the row has changed")
	state, outcome := p.seen(&w), w.outcomeNow()
	if w.sweep.act != 0 || outcome == weak || outcome == exists {
		return
	}
	var acts []int8
	switch state {
	case trade.Pending:
		acts = []int8{sweepWithdraws, sweepHolds, sweepPends}
	case trade.Rejected:
		acts = []int8{sweepWithdraws, sweepHolds, sweepPends}
	case trade.Held:
		acts = []int8{sweepWithdraws, sweepPends}
	case trade.Withdrawn:
		acts = []int8{sweepHolds, sweepPends}
	}
	for _, act := range acts {
		if act == sweepWithdraws && w.gen > 1 {
			continue
		}
		n := w
		n.sweep = decision{act: act, fresh: true}
		p.push(n, "the engine sees %s and plans a %s", state, actNames[act])
	}
}

// sweepCommits stores what the engine planned.
func (p *model) sweepCommits(w world) {
	d := w.sweep
	if d.act == 0 {
		return
	}
	n := w
	n.sweep = decision{}
	to := map[int8]trade.State{
		sweepWithdraws: trade.Withdrawn, sweepHolds: trade.Held, sweepPends: trade.Pending,
	}[d.act]
	if !p.allowed(&w, d, to) {
		p.push(n, "the %s is refused", actNames[d.act])
		return
	}
	n.put(to)
	n.touch()
	p.note(&n, int(w.leader))
	p.push(n, "the %s is stored: %s", actNames[d.act], to)
}

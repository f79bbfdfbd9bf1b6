package sent

import (
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// The faults.
const (
	twice    = "the record is on the platform twice, without a person's order and without the flag"
	nobody   = "the platform has a record that nobody knows of"
	noRecord = "it is accepted, and the platform has no record"
	posted   = "it is posted after it was adopted or dismissed"
	again    = "it is posted while an earlier attempt may have a record, without a person's order"
	unasked  = "an order is carried out whose commit was refused"
	undone   = "a decision is undone by what is not a person"
	sums     = "the sums count the row as sent and not sent"
	apart    = "entry and sent contradict each other"
	nothing  = "it is in doubt, and no attempt is"
	ordered  = "the ledger depends on the order of the journals"
)

// fault returns what is wrong with a world, or "".
func (p *model) fault(w world) string {
	there, records := 0, w.onPlatform()
	for _, r := range records {
		if w.requests[r-1].fate == requestMade {
			there++
		}
	}
	known := p.complete(&w)
	switch {
	case w.wrong > 0:
		return wrongSteps[w.wrong-1]
	case known && there > 1+int(w.unproved) && !w.flag:
		return twice
	case known && w.forgotten():
		return nobody
	case w.raw() == trade.Accepted && len(records) == 0 && w.foreign == 0:
		return noRecord
	case p.unordered(&w):
		return ordered
	case known && w.halfway == 0:
		return w.contradiction()
	}
	return ""
}

// forgotten reports whether the platform has a record of which neither the ledger knows, nor a
// process that will still store it.
func (w *world) forgotten() bool {
	for i, r := range w.requests {
		no := int8(i + 1)
		if r.fate != requestMade || slices.ContainsFunc(w.workers[:], func(k worker) bool { return k.request == no }) {
			continue
		}
		a := w.attempts[r.attempt-1]
		known := a.own > 0 || a.gen > 0 && !a.listed && mayExist(a.outcome) && w.sents[a.gen-1].certainty >= maybe
		if !known && !w.states(no) {
			return true
		}
	}
	return w.foreign == 2 && !w.states(byHand)
}

// states reports whether a person stated a record.
func (w *world) states(id int8) bool {
	return slices.ContainsFunc(w.sents[:], func(s place) bool { return s.stated == id })
}

// contradiction returns what of the entry and its sent contradict each other.
func (w *world) contradiction() string {
	state, now := w.raw(), w.place().certainty
	if w.anyOpen() {
		if state != trade.Pending {
			return apart
		}
		return ""
	}
	fits := true
	switch onlyPerson := w.outcomeNow() == weak || w.outcomeNow() == exists; state {
	case trade.Pending, trade.Withdrawn:
		fits = now <= void
	case trade.Rejected, trade.Held:
		fits = now <= void || now == maybe && onlyPerson
	case trade.Dismissed:
		fits = now == leftOut
	case trade.Accepted:
		fits = slices.ContainsFunc(w.sents[:], func(s place) bool { return s.certainty >= stated })
	case trade.InDoubt:
		if !w.any(func(a attempt) bool { return a.outcome == unknown }) {
			return nothing
		}
		fits = now == maybe || w.restored
	}
	notSent := state == trade.Pending || state == trade.Withdrawn || state == trade.Rejected
	if !fits || notSent && w.elsewhere(0) > 0 {
		return apart
	}
	return ""
}

// String describes a ledger in the failure of a test.
func (l *ledger) String() string {
	out := fmt.Sprintf("%s, generation %d", l.raw(), l.gen)
	if l.flag {
		out += ", flagged"
	}
	for i, s := range l.sents {
		if s.certainty != absent {
			out += fmt.Sprintf("; sent %d %s, attempt %d", i+1, certainties[s.certainty], l.current(int8(i+1)))
		}
	}
	return out
}

package sent

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// The bounds of a world. Limits may be narrower.
const (
	maxAttempts    = 3
	maxGenerations = 4
	maxWorkers     = 2
)

// limits bounds the model.
type limits struct {
	attempts int
	people   bool // a person decides about the row, with the platform before him
	sweeps   bool // the engine judges the row again, as the ERP has it
	foreign  bool // somebody may type the document by hand on the platform
	lies     bool // the platform may refuse a request whose record it has made
	told     bool // evidence of a record that exists may come later, with the id of its attempt
	weak     bool // refusals that prove nothing
	exists   bool // refusals because a record exists
	// A copy of the ledger is taken and restored once. Each worker is a host with its own journal.
	rollback bool
	// The other host does not notice that the ledger is older than the first one's journal.
	blind   bool
	calm    bool // no process ends or stalls, and no answer of a commit is lost
	changes int  // the highest version of the entry, if there is a roll-back
}

// The outcome of an attempt, as the ledger has it.
const (
	open int8 = iota + 1
	unknown
	notSent
	notCreated
	weak   // not created, says an answer that proves nothing
	exists // not created, because a record exists already
	created
)

// mayExist reports whether an attempt with this outcome has, or may have, a record.
func mayExist(outcome int8) bool {
	return outcome > 0 && outcome != notSent && outcome != notCreated
}

// The certainty of a sent.
const (
	absent int8 = iota // there is no row for this generation
	void
	maybe
	leftOut
	stated
	made
)

var certainties = []string{"absent", "void", "maybe", "left out", "stated", "made"}

func certaintyOf(outcome int8) int8 {
	switch outcome {
	case created:
		return made
	case notSent, notCreated:
		return void
	}
	return maybe
}

// place is the row of sent of one generation. Its attempt is in [ledger.attempts].
type place struct {
	certainty int8
	stated    int8 // the request whose record a person stated, or byHand; 0 = none
	waited    bool // the quarantine of an attempt of this generation is over; only without the rule
}

// byHand is the record that somebody typed on the platform, beside those of requests.
const byHand = maxAttempts + 1

// attempt is what the ledger knows of one attempt.
type attempt struct {
	gen     int8 // the generation of its sent; 0 = the ledger does not know it
	outcome int8
	listed  bool // it is in the list of earlier attempts of its sent
	own     int8 // the generation of the sent that its late record got; 0 = none
}

// ledger is one entry with all its rows of sent.
type ledger struct {
	state   int8 // index in trade.States; sending is not stored
	gen     int8
	from    int8 // the state from which it was dismissed
	flag    bool // double_after_decision or contradicted: people are shown that something is wrong
	version int8 // counted only if there is a roll-back; otherwise whoever read an older one is marked
	// sents has a place for each generation.
	sents    [maxGenerations]place
	attempts [maxAttempts]attempt
}

func stateNo(s trade.State) int8 { return int8(slices.Index(trade.States, s)) }

// raw returns the state that is stored.
func (l *ledger) raw() trade.State { return trade.States[l.state] }

// shown returns the state that the view derives.
func (l *ledger) shown() trade.State {
	if l.raw() == trade.Pending && l.anyOpen() {
		return trade.Sending
	}
	return l.raw()
}

func (l *ledger) put(s trade.State) { l.state = stateNo(s) }

func (l *ledger) place() *place { return &l.sents[l.gen-1] }

// current returns the attempt of a sent; 0 if it has none.
func (l *ledger) current(gen int8) int8 {
	for i, a := range l.attempts {
		if a.gen == gen && !a.listed || a.own == gen {
			return int8(i + 1)
		}
	}
	return 0
}

func (l *ledger) outcomeNow() int8 {
	if id := l.current(l.gen); id > 0 {
		return l.attempts[id-1].outcome
	}
	return 0
}

func (l *ledger) any(is func(attempt) bool) bool { return slices.ContainsFunc(l.attempts[:], is) }

func (l *ledger) anyOpen() bool {
	return l.any(func(a attempt) bool { return a.gen > 0 && a.outcome == open })
}

// free returns the next free generation; 0 if the bounds have none.
func (l *ledger) free() int8 {
	top := l.gen
	for i, s := range l.sents {
		if s.certainty != absent {
			top = max(top, int8(i+1))
		}
	}
	if top == maxGenerations {
		return 0
	}
	return top + 1
}

// set stores the outcome of the attempt of a sent, and the certainty that follows. What a person
// stated or left out stays so, unless the record is made.
func (l *ledger) set(id, outcome int8) {
	a := &l.attempts[id-1]
	a.outcome = outcome
	s := &l.sents[a.gen-1]
	if !a.listed && (outcome == created || s.certainty != stated && s.certainty != leftOut) {
		s.certainty = certaintyOf(outcome)
	}
}

// elsewhere returns how many other attempts have made a record, as far as the ledger knows.
func (l *ledger) elsewhere(id int8) (n int) {
	for i, a := range l.attempts {
		if int8(i+1) != id && (a.gen > 0 && a.outcome == created || a.own > 0) {
			n++
		}
	}
	return n
}

// others returns how many other attempts have, or may have, a record.
func (l *ledger) others(id int8) (n int) {
	for i, a := range l.attempts {
		if int8(i+1) != id && a.gen > 0 && (a.own > 0 || !a.listed && mayExist(a.outcome)) {
			n++
		}
	}
	return n
}

// The positions of a worker.
const (
	workerIdle   = iota
	workerRead   // has read the entry and its sent
	workerClaims // the statement of its claim has run, and is not committed
	workerUnsure // the answer of the commit is lost
	workerIntent // the intent is stored; no byte has left
	workerWire   // bytes have left
	workerAnswer // knows the outcome, and has not stored it yet
)

// worker is the process of one host, with the attempt that it makes.
type worker struct {
	at, attempt, request, gen int8
	former                    int8 // the attempt of the sent that it read
	verdict                   int8
	fresh                     bool // the entry has the version that it read or wrote
	stale                     bool // the lease was taken over since it read
	late                      bool // the send window is over
}

// decision is an act of a person, or a change by the engine, that was read and not committed yet.
type decision struct {
	act   int8
	id    int8 // the record that the person found
	fresh bool
}

// The fates of a request.
const (
	requestUnder = iota + 1 // the platform has not executed it yet, or it is lost later
	requestMade             // the platform has its record
	requestLied             // the same, but it said that it created nothing
	requestGone             // it never makes a record
)

type request struct{ fate, attempt int8 }

// world is one state of the whole model.
type world struct {
	ledger
	workers       [maxWorkers]worker
	leader        int8
	person, sweep decision
	requests      [maxAttempts]request
	used          int8 // attempts
	orders        int8 // generations that a person opened
	unproved      int8 // those of them that followed a refusal which proves nothing: no quarantine
	foreign       int8 // 1 = there is a record typed by hand, 2 = and a person has stated it
	halfway       int8 // the attempt that a recovery in two transactions has ended
	counted       bool // a list has counted an open sent, and not yet the states
	wrong         int8 // index in steps that are faults, plus 1
	copied        ledger
	taken         bool
	restored      bool
	dismissed     bool             // a person dismissed it once; only if there is a roll-back
	lost          int8             // the state that the entry had when the copy was restored
	ahead         [maxWorkers]bool // the journal of a host has what the copy has not
	replayed      [maxWorkers]bool
	kept          [maxAttempts]bool // a journal has the record of an attempt that the ledger lacks
	owed          [maxWorkers]bool  // the journal of a host lacks a transaction; only without the rule
	journals      [maxWorkers]ledger
}

// Faults of a step.
var wrongSteps = []string{posted, again, undone, unasked, sums}

func (w *world) blame(fault string) { w.wrong = int8(slices.Index(wrongSteps, fault) + 1) }

// touch raises the version of the entry: whoever read an older one loses its compare-and-set.
func (w *world) touch() {
	w.version++
	for i := range w.workers {
		w.workers[i].fresh = false
	}
	w.person.fresh, w.sweep.fresh = false, false
}

// onPlatform returns the requests that made a record.
func (w *world) onPlatform() (out []int8) {
	for i, r := range w.requests {
		if r.fate == requestMade || r.fate == requestLied {
			out = append(out, int8(i+1))
		}
	}
	return out
}

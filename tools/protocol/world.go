package protocol

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// The model of the protocol has one entry, some workers that may stall for ever or continue later,
// crashes at any point, a lease that can be taken over at any moment, commits whose answer is lost,
// an API that executes a request late, loses the answer or refuses, and a person who checks the
// platform and then decides. Its moves are those of trade.Moves, its outcomes those of
// outcome.Decide, and its times those of the send window and of run.Limits, so a change of these
// changes the model.

// rule is a rule of the protocol that the model can be told to drop.
type rule uint16

const (
	intentFirst    rule = 1 << iota // I1: the intent is durable before a byte leaves
	recoveryDoubts                  // what a dead process left in state sending becomes in doubt
	windowChecked                   // I13: no byte leaves later than the send window
	quarantined                     // I14: nobody decides before every time-out has passed
	unknownDoubts                   // I2: an answer that proves nothing becomes in doubt
	// I3: the index that allows one open, unknown or created attempt in a generation
	oneShot
	compareAndSet // an intent is refused if its entry has changed since it was read
	fenced        // I12: intents of an older epoch are refused
	// a ledger that is older than its journal is detected before anything is sent
	journalled
	movesKept                 // the table of moves: the engine moves nothing out of in_doubt
	markedFirst               // a process notes that a request is leaving before its first byte leaves
	provedDead                // the notes of a process are trusted only when it has ended
	allRules    = 1<<iota - 1 // all of them
)

var ruleNames = []string{
	"intent before bytes", "in doubt at recovery", "send window", "quarantine", "in doubt when unknown",
	"one-shot index", "compare-and-set", "fence by epoch",
	"journal comparison", "table of moves", "mark before bytes", "marks of the dead only",
}

func (r rule) names() (out []string) {
	for i, name := range ruleNames {
		if r&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// limits bounds the model.
type limits struct {
	workers, crashes, generations int
	rollback                      bool // a copy of the ledger is taken and restored once
	// Time passes in ticks, and the person waits for the quarantine. Otherwise the person knows
	// when everything is over.
	timed      bool
	quarantine time.Duration // of the timed model
}

const maxGenerations = 3

// The timed model: a tick is the send window.
const (
	tick         = sending.SendWindow
	modelTimeout = tick
	windowTicks  = int8(sending.SendWindow / tick)
	timeoutTicks = int8(modelTimeout / tick)
)

// The positions of a worker.
const (
	workerIdle   = iota
	workerLooked // has read the entry and is about to store its intent
	workerIntent // the intent is stored, or the worker believes so; no byte has left
	workerWire   // bytes have left
	workerAnswer // knows the outcome, and has not stored it yet
)

// The state of a worker's attempt in the ledger.
const (
	recordNone = iota
	recordOpen
	recordUnknown
	recordClosed
)

// What the process of the open attempt left behind.
const (
	leftNothing = iota // it is running, or its note is lost
	leftUnsent         // it has ended, and had not noted that the request is leaving
	leftSent           // it has ended, and no answer was noted
	leftAnswer         // it has ended, and had noted a verdict; its number is added to this
)

// worker is one attempt, in its own process.
type worker struct {
	at, gen int8
	age     int8 // ticks since the intent, or since the first byte
	record  int8
	verdict int8 // number of the verdict; for workerAnswer
	stale   bool // the lease was taken over since the worker read the entry
}

// copyOf is a copy of the ledger.
type copyOf struct {
	taken     bool
	state     int8
	gen       int8
	may, made [maxGenerations]int8
}

// world is one state of the whole model.
type world struct {
	state int8 // index in trade.States
	gen   int8
	// number of attempts of each generation that are open, unknown or created; and of those that
	// are created
	may, made [maxGenerations]int8
	left      int8
	current   bool // the open attempt belongs to the epoch that holds the lease
	leader    int8
	doubted   int8 // ticks since the attempt became unknown
	created   int8 // number of records on the platform
	crashes   int8
	under     [maxGenerations]int8 // number of requests of each generation that the platform has not executed yet
	underAge  [maxGenerations]int8 // ticks since the first byte of the oldest request
	workers   [3]worker
	copied    copyOf
	restored  bool
}

func stateNo(s trade.State) int8 { return int8(slices.Index(trade.States, s)) }

func (w *world) is(s trade.State) bool { return trade.States[w.state] == s }

// put moves the entry if the table allows it, and reports whether it did.
func (w *world) put(to trade.State) bool {
	if !trade.CanMove(trade.States[w.state], to) {
		return false
	}
	w.state = stateNo(to)
	return true
}

// verdict is a possible answer: what outcome.Decide makes of it, and what may be true on the
// platform when it arrives.
type verdict struct {
	name            string
	outcome         trade.Outcome
	state           trade.State
	created, absent bool // the record may exist; the record may not exist
}

// answersOf returns answers of each class, with what may then be true of the record. If both are
// possible, only in doubt is safe.
func answersOf() []verdict {
	answer := func(name string, a apiclient.Answer, fault apiclient.FaultCode, created, absent bool) verdict {
		d := outcome.Decide(a, fault, false)
		return verdict{name, d.Outcome, d.State, created, absent}
	}
	refused := func(name string, status int, format apiclient.Format, messages ...string) verdict {
		return answer(name, apiclient.Answer{
			Known: apiclient.NotCreated, Status: status, Format: format,
			Messages: messages,
		}, apiclient.FaultNone, false, true)
	}
	unknown := func(name string, status int) verdict {
		return answer(name, apiclient.Answer{Status: status}, apiclient.FaultNone, true, true)
	}
	return []verdict{
		answer("201 with an id", apiclient.Answer{Known: apiclient.Created, Status: 201, ID: "x"}, apiclient.FaultNone,
			true, false),
		answer("no answer", apiclient.Answer{}, apiclient.FaultTimeout, true, true),
		answer("201 without an id", apiclient.Answer{Known: apiclient.CreatedIDUnknown, Status: 201},
			apiclient.FaultNone, true, true),
		unknown("500", 500), unknown("503", 503), unknown("302", 302), unknown("408", 408),
		answer("429", apiclient.Answer{Known: apiclient.Throttled, Status: 429, RetryAfter: time.Second},
			apiclient.FaultNone, false, true),
		refused("400 of a field", 400, apiclient.FormatA, "message.price.invalid"),
		refused("400 malformed", 400, apiclient.FormatA, outcome.KeyMalformed),
		refused("400 duplicate", 400, apiclient.FormatA, outcome.KeyDuplicate),
		refused("404 of a wallet", 404, apiclient.FormatA, "message.wallet.not-found"),
		refused("422", 422, apiclient.FormatD),
		refused("409", 409, apiclient.FormatA),
		refused("401", 401, apiclient.FormatGateway401),
		refused("403 module", 403, apiclient.FormatA, outcome.KeyNotContract),
		refused("502 refused", 502, apiclient.FormatA, outcome.KeyRefused),
	}
}

// verdictNotSent is the index of the verdict of an attempt that was given up before a byte left.
const verdictNotSent = 0

// verdicts returns the distinct verdicts: answers with the same meaning and the same possible
// states of the platform are one.
func verdicts(rules rule) []verdict {
	d := outcome.Decide(apiclient.Answer{Known: apiclient.NotSent}, apiclient.FaultWindow, false)
	out := []verdict{{name: "nothing was sent", outcome: d.Outcome, state: d.State}}
	for _, v := range answersOf() {
		if rules&unknownDoubts == 0 && v.outcome == trade.OutcomeUnknown {
			v.outcome, v.state = trade.OutcomeNotCreated, trade.Pending
		}
		same := func(o verdict) bool {
			return o.outcome == v.outcome && o.state == v.state && o.created == v.created && o.absent == v.absent
		}
		if !slices.ContainsFunc(out[1:], same) {
			out = append(out, v)
		}
	}
	return out
}

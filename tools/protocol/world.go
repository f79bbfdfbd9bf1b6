package protocol

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// The model of the protocol: one entry, some workers that may stall for ever and wake later,
// crashes anywhere, a lease that is taken over at any moment, commits whose answer is lost, an API
// that executes a request late, loses the answer or refuses, and a person who looks at the platform
// and then decides. Its moves are those of trade.Moves, its outcomes those of outcome.Decide, its
// times those of the send window and of run.Limits: who changes these changes the model.

// rule is a rule of the protocol that the model can be told to drop.
type rule uint16

const (
	intentFirst    rule = 1 << iota // I1: the intent is durable before a byte leaves
	recoveryDoubts                  // what a dead process left in sending becomes in doubt
	windowChecked                   // I13: no byte leaves later than the send window
	quarantined                     // I14: nobody decides before every time-out is over
	unknownDoubts                   // I2: an answer that proves nothing becomes in doubt
	// I3: the index that allows one open, unknown or created attempt in a generation
	oneShot
	compareAndSet // an intent is refused when its entry has moved since it was read
	fenced        // I12: intents of an older epoch are refused
	// a ledger that is older than its journal is noticed before anything is sent
	journalled
	movesKept                 // the table of moves: the engine takes nothing out of doubt
	markedFirst               // a process notes that a request leaves before its first byte does
	provedDead                // what a process noted is believed only when it has ended
	allRules    = 1<<iota - 1 // of all of them
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

// limits is how far the model goes.
type limits struct {
	workers, crashes, generations int
	rollback                      bool // a copy of the ledger is taken and restored once
	// time passes in ticks, and the person waits for the quarantine; otherwise the person knows
	// when all is over
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

// Where a worker is.
const (
	workerIdle   = iota
	workerLooked // has read the entry and is about to make its intent durable
	workerIntent // the intent is durable, or is believed to be; no byte has left
	workerWire   // bytes have left
	workerAnswer // knows what came of it, and has not stored it
)

// What the ledger knows of a worker's attempt.
const (
	recordNone = iota
	recordOpen
	recordUnknown
	recordClosed
)

// What the process of the open attempt left behind.
const (
	leftNothing = iota // it runs, or what it noted is lost
	leftUnsent         // it has ended, and had not noted that the request leaves
	leftSent           // it has ended, and no answer was noted
	leftAnswer         // it has ended, and had noted the verdict whose number is added to this
)

// worker is one flight, in a process of its own.
type worker struct {
	at, gen int8
	age     int8 // ticks since the intent, or since the first byte
	record  int8
	verdict int8 // of workerAnswer: number of a verdict
	stale   bool // the lease was taken over since it looked
}

// copyOf is a copy of the ledger.
type copyOf struct {
	taken     bool
	state     int8
	gen       int8
	may, made [maxGenerations]int8
}

// world is one state of everything.
type world struct {
	state int8 // index in trade.States
	gen   int8
	// attempts of each generation that are open, unknown or created; those that are created
	may, made [maxGenerations]int8
	left      int8
	current   bool // the open attempt is of the epoch that holds the lease
	leader    int8
	doubted   int8 // ticks since the attempt became unknown
	created   int8 // records on the platform
	crashes   int8
	under     [maxGenerations]int8 // requests of each generation that the platform has not executed
	underAge  [maxGenerations]int8 // ticks since the first byte of the oldest
	workers   [3]worker
	copied    copyOf
	restored  bool
}

func stateNo(s trade.State) int8 { return int8(slices.Index(trade.States, s)) }

func (w *world) is(s trade.State) bool { return trade.States[w.state] == s }

// put moves the entry where the table allows it.
func (w *world) put(to trade.State) bool {
	if !trade.CanMove(trade.States[w.state], to) {
		return false
	}
	w.state = stateNo(to)
	return true
}

// verdict is what an answer may mean: what decide makes of it, and what may be true of the platform
// when it comes.
type verdict struct {
	name            string
	outcome         trade.Outcome
	state           trade.State
	created, absent bool // the record may be there, or not
}

// answersOf are answers of each class, with what may be true of the record then. Where both are
// possible nothing but a doubt is safe.
func answersOf() []verdict {
	answer := func(name string, a apiclient.Answer, fault apiclient.Fault, created, absent bool) verdict {
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

// verdictNotSent is the number of the verdict of an attempt that was given up before a byte left.
const verdictNotSent = 0

// verdicts are the different ones among them: answers that mean the same and can come of the same
// are one.
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

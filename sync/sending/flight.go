// Requests in flight: slots, gate, request, result (I11, I13).

package sending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// SendWindow is how long an intent may wait for its first byte (I13).
const SendWindow = 10 * time.Second

// Errors of the gate: the attempt is given up before a byte leaves.
var (
	errWindow  = errors.New("more than 10 s passed between the intent and the first byte")
	errHalted  = errors.New("the job stopped before the first byte left")
	errNoLease = errors.New("the job's lease is not ours for certain any more")
)

// inFlight is one attempt on its way.
type inFlight struct {
	Entry   trade.Entry
	attempt trade.Attempt
	needs   []run.Need    // records of the platform
	intent  time.Duration // Boot time just before the commit of its intent
}

// result is a flight with what came of it.
type result struct {
	*inFlight
	answer   apiclient.Answer
	decision outcome.Decision
	routine  bool // nothing was held because of it
	at       time.Time
}

// prepare makes the attempt of an entry. The send window starts here, before the commit.
func (s *Sender) prepare(entry trade.Entry, needs []run.Need) *inFlight {
	return &inFlight{Entry: entry, needs: needs, intent: s.Run.Env.Clock.Boot(), attempt: trade.Attempt{
		ID: uuid.Must(uuid.NewV7()).String(), EntryID: entry.ID, Generation: entry.Generation, RunID: s.Run.Report.ID,
		Owner: s.Run.Lease.Owner.Instance, Epoch: s.Run.Lease.Epoch, Target: entry.Target, Payload: entry.Payload,
		PayloadHash: entry.PayloadHash, Content: entry.Content, StartedAt: s.Run.Env.Clock.Now(),
	}}
}

// send sends one request and reports what came of it. The request outlives the end of the run's
// context: what is in flight is awaited.
func (s *Sender) send(f *inFlight) {
	ctx := s.context
	gate := func() error {
		switch {
		case s.Run.Env.Clock.Boot()-f.intent > SendWindow:
			return errWindow
		case !s.Run.Keeper.Trusted():
			return errNoLease
		}
		select {
		case <-s.halted:
			return errHalted
		case <-ctx.Done():
			return errHalted
		default:
		}
		if err := failpoint.Hit("gate.open"); err != nil {
			return err
		}
		return s.intents.Mark(f.attempt.ID)
	}
	answer, err := submit(context.WithoutCancel(ctx), s.Run.Env.Platform, f.Entry.Sends, f.attempt, gate)
	fault := apiclient.FaultNone
	var failure *apiclient.Error
	if errors.As(err, &failure) {
		answer, fault = failure.Answer, failure.Fault
	}
	if failpoint.Hit("answer.here") != nil { // the answer is lost on its way through us
		answer, fault = apiclient.Answer{Known: apiclient.Unknown}, apiclient.FaultNetwork
	}
	l := &result{
		inFlight: f, answer: answer, decision: outcome.Decide(answer, fault, s.Run.Env.Limits.Strict),
		at: s.Run.Env.Clock.Now(),
	}
	if l.decision.Outcome == trade.OutcomeCreated {
		if other, taken := s.dispatcher.claimID(answer.ID, f.Entry); taken {
			l.decision = foreignID(other)
		}
	}
	if settlesAfterCrash(l.decision) {
		s.intents.Heard(f.attempt.ID, l.decision.Outcome, answer.Status, answer.ID)
	}
	l.routine = isRoutine(l.decision)
	s.dispatcher.finished(l.routine)
	s.results <- l
}

// evidence is what the ledger keeps of how far a request got.
func evidenceOf(a apiclient.Answer) json.RawMessage {
	data, err := json.Marshal(a.Evidence)
	if err != nil {
		return json.RawMessage(fmt.Sprintf("%q", err.Error()))
	}
	return data
}

// submit sends one attempt to the endpoint of its kind.
func submit(ctx context.Context, p run.Platform, kind trade.Kind, a trade.Attempt,
	gate func() error,
) (apiclient.Answer, error) {
	switch kind {
	case trade.Deliveries:
		return p.SubmitDelivery(ctx, a.Payload, gate)
	case trade.Traceability:
		return p.SubmitTraceability(ctx, a.Target, a.Payload, gate)
	}
	return p.SubmitOrderCommitment(ctx, a.Payload, gate)
}

// quick is how long an answer takes at most where the next group is stored before it comes.
const quick = time.Second

// idsKept is how many of the platform's last ids the wire remembers.
const idsKept = 512

// dispatcher lets flights go whose intents are stored: as many at once as there are slots, the next
// one as soon as one has landed. Its methods may be called by several goroutines.
type dispatcher struct {
	mu       sync.Mutex
	released []*inFlight // stored, not begun
	inFlight int
	slots    int
	held     int // answers that must be judged before anything else leaves
	send     func(*inFlight)
	ids      map[string]string // the platform's ids that came last, and whose they are
	order    []string
}

// claimID notes whose an id is that came back, and reports whether it came back to another row
// before: a cache or a fault answers then, and nothing more should leave. Of ids that came long ago
// the ledger knows.
func (w *dispatcher) claimID(id string, of trade.Entry) (other string, taken bool) {
	if scope, _ := trade.IDScope(of.Sends, id, of.Payload); scope != "" {
		id += " of " + scope
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	name := of.Job + " " + of.Key
	if other, taken = w.ids[id]; taken && other != name {
		return other, true
	}
	if w.ids == nil {
		w.ids = map[string]string{}
	}
	w.ids[id] = name
	if w.order = append(w.order, id); len(w.order) > idsKept {
		delete(w.ids, w.order[0])
		w.order = w.order[1:]
	}
	return "", false
}

// release lets flights go, now or when a slot is free.
func (w *dispatcher) release(flights []*inFlight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.released = append(w.released, flights...)
	w.startNext()
}

// Open sets how many may fly at once.
func (w *dispatcher) Open(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots = slots
	w.startNext()
}

// resume tells that an answer which was not as usual was judged, and how many may fly now.
func (w *dispatcher) resume(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots, w.held = slots, w.held-1
	w.startNext()
}

// finished makes room for the next flight. Where the answer was not as usual, nothing leaves until
// the sender has judged it.
func (w *dispatcher) finished(usual bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inFlight--; !usual {
		w.held++
	}
	w.startNext()
}

// withdraw takes back those that have not begun.
func (w *dispatcher) withdraw() (back []*inFlight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	back, w.released = w.released, nil
	return back
}

// waiting is how many are stored and not begun.
func (w *dispatcher) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.released)
}

// startNext begins flights as long as there are free slots. The caller has the lock.
func (w *dispatcher) startNext() {
	for w.held == 0 && w.inFlight < w.slots && len(w.released) > 0 {
		f := w.released[0]
		w.released = w.released[1:]
		w.inFlight++
		go w.send(f)
	}
}

// isRoutine reports whether an answer leaves the job as it is: the next row may go before anybody
// has looked at it.
func isRoutine(d outcome.Decision) bool {
	return d.Stop == nil && d.Wait == 0 && (d.State == trade.Accepted || len(d.Missing) > 0)
}

// settlesAfterCrash reports whether an answer may settle its row after a crash. A refusal that only
// a person may follow must not: the note does not say why, and the row would go again by itself.
func settlesAfterCrash(d outcome.Decision) bool {
	return d.Outcome != trade.OutcomeNotCreated || !d.Weak && d.State != trade.Held
}

// window is how many intents may be open at once: as many as may fly, and as many again, so that
// the wire does not wait for the disk. Those are ahead only where no rate holds them up, a crash
// shows which of them had left, and no other instance would have to know it (I11); and not after an
// answer that was not as usual, or slow: what would be gained is little then, and the intents would
// wait long.
func (s *Sender) window() int {
	if s.pace.slots < s.Run.Env.Limits.MaxInFlight || s.traffic.Careful || s.pace.limited ||
		s.pace.calm < s.pace.slots || s.pace.took > quick || s.Run.Env.Member.Place().Living > 1 ||
		!s.intents.Marked() {
		return s.pace.slots
	}
	return 2 * s.pace.slots
}

// open is how many may be in flight: none while the harmless question is to be asked, before the
// first POST and after an answer that something on the road may have given.
func (s *Sender) open() int {
	if !s.preflown {
		return 0
	}
	return s.pace.slots
}

// withdraw gives up what was stored and must not leave any more. It is due again at once.
func (s *Sender) withdraw() {
	if s.halt == nil && !s.traffic.Careful && s.preflown && s.pace.slots >= s.Run.Env.Limits.MaxInFlight &&
		s.pace.resting(s.Run.Env.Clock.Now()) <= 0 {
		return
	}
	if back := s.dispatcher.withdraw(); len(back) > 0 {
		s.pace.calm = 0
		for _, f := range back {
			s.Run.Report.Sent--
			s.rowLimit.recalled(f.Entry.ID)
			s.Load.didNotGo(f.Entry)
		}
		s.giveUp(back, "it was taken back before it left")
	}
}

// takeResult draws the conclusions of one landing for the job: how many may fly, whether it rests
// or stops, which records of the platform are there.
func (s *Sender) takeResult(l *result) {
	delete(s.flights, l.Entry.ID)
	if l.decision.Outcome == trade.OutcomeNotSent {
		s.Run.Report.Sent-- // no POST was begun
		s.rowLimit.recalled(l.Entry.ID)
	} else if l.decision.State == trade.Pending {
		s.rowLimit.returned(l.Entry.ID)
	}
	s.commit.settling = append(s.commit.settling, l)
	d, needs := l.decision, l.needs
	s.traffic.blocks.answered(l.Entry.ID)
	switch d.State {
	case trade.Accepted:
		s.commit.found = append(s.commit.found, s.traffic.blocks.confirm(needs)...)
	case trade.Pending:
		s.brakes.Untried(l.Entry.Key)
		s.Load.didNotGo(l.Entry)
	}
	if d.Ask {
		s.preflown = false
	}
	if d.Wait > 0 {
		if s.row.throttled == nil {
			s.row.throttled = map[int64]int{}
		}
		if s.row.throttled[l.Entry.ID]++; s.row.spent(l.Entry.ID) {
			l.decision.Kind = trade.APIError
			l.decision.Reason += fmt.Sprintf("; it was tried %d times in this run, and goes with a later one",
				throttledMost)
		}
	}
	for _, m := range d.Missing {
		for _, n := range needs {
			if n.Kind == m.Kind {
				s.commit.lacking = append(s.commit.lacking, s.traffic.blocks.reportMissing(n, m.Message, l.at))
			}
		}
	}
	if s.pace.calm++; !isRoutine(d) {
		s.pace.calm = 0
	}
	s.pace.took = l.answer.Evidence.Duration
	s.row.count(d, l)
	s.adjustPace(d, l.at)
	s.judge(d)
	if !l.routine {
		s.withdraw()
		s.dispatcher.resume(s.open())
	}
	s.Run.Log.Info("attempt", zap.String("key", l.Entry.Key), zap.String("attempt", l.attempt.ID),
		zap.String("class", string(d.Outcome)),
		zap.String("state", string(d.State)), zap.Int("status", l.answer.Status),
		zap.Strings("messages", outcome.StableKeys(l.answer.Messages)),
		zap.Duration("duration", l.answer.Evidence.Duration))
}

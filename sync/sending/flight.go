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

// SendWindow is the longest time from an intent to its first byte (I13).
const SendWindow = 10 * time.Second

// Errors of the gate: the attempt is given up before a byte leaves.
var (
	errWindow  = errors.New("more than 10 s passed between the intent and the first byte")
	errHalted  = errors.New("the job stopped before the first byte left")
	errNoLease = errors.New("the job's lease is not ours for certain any more")
)

// inFlight is one attempt that is being sent.
type inFlight struct {
	Entry   trade.Entry
	attempt trade.Attempt
	needs   []run.Need    // records of the platform that it refers to
	intent  time.Duration // Boot time just before the commit of its intent
}

// result is a flight with its answer and decision.
type result struct {
	*inFlight
	answer   apiclient.Answer
	decision outcome.Decision
	routine  bool // sending went on without waiting for its judgement
	at       time.Time
}

// prepare returns the attempt of an entry. The send window starts here, before the commit.
func (s *Sender) prepare(entry trade.Entry, needs []run.Need) *inFlight {
	return &inFlight{Entry: entry, needs: needs, intent: s.Run.Env.Clock.Boot(), attempt: trade.Attempt{
		ID: uuid.Must(uuid.NewV7()).String(), EntryID: entry.ID, Generation: entry.Generation, RunID: s.Run.Report.ID,
		Owner: s.Run.Lease.Owner.Instance, Epoch: s.Run.Lease.Epoch, Target: entry.Target, Payload: entry.Payload,
		PayloadHash: entry.PayloadHash, StartedAt: s.Run.Env.Clock.Now(),
	}}
}

// send sends one request and passes the result to the sender. The request outlives the run's
// context: a request in flight is awaited.
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
		return failpoint.Hit("gate.open")
	}
	answer, err := submit(context.WithoutCancel(ctx), s.Run.Env.Platform, f.Entry.Sends, f.attempt, gate)
	fault := apiclient.FaultNone
	var failure *apiclient.Error
	if errors.As(err, &failure) {
		answer, fault = failure.Answer, failure.Fault
	}
	if failpoint.Hit("answer.here") != nil { // as if the answer got lost in this process
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
	l.routine = isRoutine(l.decision)
	s.dispatcher.finished(l.routine)
	s.results <- l
}

// evidenceOf returns what the ledger stores about how far a request got.
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

// idsKept is how many of the platform's latest ids the dispatcher remembers.
const idsKept = 512

// dispatcher starts the flights whose intents are stored: as many at once as there are slots, the
// next one as soon as one has finished. Its methods may be called by several goroutines.
type dispatcher struct {
	mu       sync.Mutex
	released []*inFlight // stored, not begun
	inFlight int
	slots    int
	held     int // answers that must be judged before anything else leaves
	send     func(*inFlight)
	ids      map[string]string // the platform's latest ids, and the rows that they belong to
	order    []string
}

// claimID records to which row an answered id belongs, and reports whether it was answered for
// another row before. If so, a cache or a fault has answered, and nothing more should be sent. The
// ledger checks older ids.
func (w *dispatcher) claimID(id string, of trade.Entry) (other string, taken bool) {
	if scope := trade.IDScope(of.Sends, id, trade.ParentOf(of.Sends, of.Target, of.Payload)); scope != "" {
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

// release starts flights, now or as soon as a slot is free.
func (w *dispatcher) release(flights []*inFlight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.released = append(w.released, flights...)
	w.startNext()
}

// Open sets how many requests may be in flight at once.
func (w *dispatcher) Open(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots = slots
	w.startNext()
}

// resume is called when an answer that was not routine has been judged; it sets the slots.
func (w *dispatcher) resume(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots, w.held = slots, w.held-1
	w.startNext()
}

// finished frees a slot. After an answer that was not routine nothing is sent until the sender has
// judged it.
func (w *dispatcher) finished(usual bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inFlight--; !usual {
		w.held++
	}
	w.startNext()
}

// withdraw removes and returns the flights that have not begun.
func (w *dispatcher) withdraw() (back []*inFlight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	back, w.released = w.released, nil
	return back
}

// waiting returns how many flights are stored but have not begun.
func (w *dispatcher) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.released)
}

// startNext starts flights as long as there are free slots. The caller holds the lock.
func (w *dispatcher) startNext() {
	for w.held == 0 && w.inFlight < w.slots && len(w.released) > 0 {
		f := w.released[0]
		w.released = w.released[1:]
		w.inFlight++
		go w.send(f)
	}
}

// isRoutine reports whether an answer leaves the job as it is, so that the next row may go before
// the sender has judged the answer.
func isRoutine(d outcome.Decision) bool {
	return d.Stop == nil && d.Wait == 0 && (d.State == trade.Accepted || len(d.Missing) > 0)
}

// window returns how many intents may be open at once: as many as there are slots (I11).
func (s *Sender) window() int { return s.pace.slots }

// open returns how many requests may be in flight: none while the harmless GET must be sent first,
// which is before the first POST and after an answer that something on the way may have given.
func (s *Sender) open() int {
	if !s.preflown {
		return 0
	}
	return s.pace.slots
}

// withdraw gives up intents that are stored but must not be sent any more. They are due again at
// once.
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

// takeResult applies one result to the job: how many requests may be in flight, whether the job
// rests or stops, which records the platform has.
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
	s.row.count(d, l)
	s.adjustPace(d, l.at)
	s.judge(d)
	if !l.routine {
		s.withdraw()
		s.dispatcher.resume(s.open())
	}
	s.Run.Log.Info("attempt", zap.Int64("row", l.Entry.ID), zap.String("key", l.Entry.Key),
		zap.String("attempt", l.attempt.ID),
		zap.String("class", string(d.Outcome)),
		zap.String("state", string(d.State)), zap.Int("status", l.answer.Status),
		zap.Strings("messages", outcome.StableKeys(l.answer.Messages)),
		zap.Duration("duration", l.answer.Evidence.Duration))
}

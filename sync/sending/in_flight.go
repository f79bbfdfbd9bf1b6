package sending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

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
// context: what is on the wire is awaited.
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

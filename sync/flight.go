package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/trade"
)

// sendWindow is how long an intent may wait for its first byte (I13).
const sendWindow = 10 * time.Second

// Errors of the gate: the attempt is given up before a byte leaves.
var (
	errWindow  = errors.New("more than 10 s passed between the intent and the first byte")
	errHalted  = errors.New("the job stopped before the first byte left")
	errNoLease = errors.New("the job's lease is not ours for certain any more")
)

// flight is one attempt on its way.
type flight struct {
	entry   trade.Entry
	attempt trade.Attempt
	needs   []need        // records of the platform
	intent  time.Duration // Boot time just before the commit of its intent
}

// landing is a flight with what came of it.
type landing struct {
	*flight
	answer   apiclient.Answer
	decision decision
	usual    bool // nothing was held because of it
	at       time.Time
}

// prepare makes the attempt of an entry. The send window starts here, before the commit.
func (s *submission) prepare(entry trade.Entry, needs []need) *flight {
	return &flight{entry: entry, needs: needs, intent: s.Clock.Boot(), attempt: trade.Attempt{
		ID: uuid.Must(uuid.NewV7()).String(), EntryID: entry.ID, Generation: entry.Generation, RunID: s.report.ID,
		Owner: s.lease.Owner.Instance, Epoch: s.lease.Epoch, Target: entry.Target, Payload: entry.Payload, PayloadHash: entry.PayloadHash, Content: entry.Content, StartedAt: s.Clock.Now(),
	}}
}

// fly sends one request and reports what came of it. The request outlives the end of the run's context: what is on the wire is awaited.
func (s *submission) fly(f *flight) {
	ctx := s.context
	gate := func() error {
		switch {
		case s.Clock.Boot()-f.intent > sendWindow:
			return errWindow
		case !s.keeper.trusted():
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
		return s.ledger.Mark(f.attempt.ID)
	}
	answer, err := submit(context.WithoutCancel(ctx), s.Platform, f.entry.Sends, f.attempt, gate)
	fault := apiclient.FaultNone
	var failure *apiclient.Error
	if errors.As(err, &failure) {
		answer, fault = failure.Answer, failure.Fault
	}
	if failpoint.Hit("answer.here") != nil { // the answer is lost on its way through us
		answer, fault = apiclient.Answer{Known: apiclient.Unknown}, apiclient.FaultNetwork
	}
	l := &landing{flight: f, answer: answer, decision: decide(answer, fault, s.Limits.Strict), at: s.Clock.Now()}
	if l.decision.outcome == trade.OutcomeCreated {
		if other, taken := s.wire.holder(answer.ID, f.entry); taken {
			l.decision = idOf(other)
		}
	}
	if l.decision.noted() {
		s.ledger.Heard(f.attempt.ID, l.decision.outcome, answer.Status, answer.ID)
	}
	l.usual = l.decision.usual()
	s.wire.landed(l.usual)
	s.landed <- l
}

// preflight asks the API one harmless question before the first POST of a run, so that a wrong key, address, proxy or certificate costs no doubt.
func (s *submission) preflight(ctx context.Context) error {
	stop := s.askHarmlessly(ctx)
	s.preflown = true
	switch {
	case ctx.Err() != nil:
		return &stopError{trade.Stop{Code: string(stopInterrupt), Text: "the run was interrupted before anything was sent", All: true}}
	case stop != nil:
		return &stopError{*stop}
	}
	return nil
}

// askHarmlessly asks for the webhooks, and gives the reason why no job may send; nil when they may. A module that is not contracted, or a route that is not
// there, says nothing of any job.
func (e *Engine) askHarmlessly(ctx context.Context) *trade.Stop {
	_, err := e.Platform.ListWebhooks(ctx)
	var failure *apiclient.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failure):
		return &trade.Stop{Code: string(stopUnreachable), Text: "the API cannot be asked: " + err.Error(), All: true}
	}
	stop, ok := judgePreflight(failure)
	if ok {
		e.Log.Info("the preflight found a module that is not contracted, or a route that is not there; both say nothing of this job", zap.Int("status", failure.Answer.Status))
		return nil
	}
	return &stop
}

// evidence is what the ledger keeps of how far a request got.
func evidenceOf(a apiclient.Answer) json.RawMessage {
	data, err := json.Marshal(a.Evidence)
	if err != nil {
		return json.RawMessage(fmt.Sprintf("%q", err.Error()))
	}
	return data
}

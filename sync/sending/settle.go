package sending

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// LongestRest is how long a pass waits at most because the API asks for it.
const LongestRest = 5 * time.Minute

// When a run stops or rests because of what came back.
const (
	stopAfterUnreached = 3           // failures to reach the API in a row
	stopAfterMalformed = 3           // malformed-request in a row
	stopAfterStrange   = 3           // refusals of the request, with nothing accepted between
	throttledMost      = 5           // tries of one row in a run that ended with 429
	stopAfterRefusals  = 20          // refusals for the same reason in a row
	stopAfterDoubts    = 20          // unknown outcomes in one run
	stopAfterNoID      = 2           // 2xx without an id in a row
	longestRest        = LongestRest // that a pass waits for without an acceptance between; more ends it
	LongestAsked       = time.Hour   // that a 429 can ask for
	backoffFirst       = 2 * time.Second
	backoffMost        = 15 * time.Minute
	slowest            = 64 // part of the configured rate below which 429 does not push
)

// settleInto adds everything that has landed to a group.
func (s *Sender) settleInto(group *trade.Group) {
	group.Settle = make([]trade.Settlement, 0, len(s.commit.settling))
	for _, l := range s.commit.settling {
		group.Settle = append(group.Settle, s.settlement(l))
	}
	group.Block, group.Unblock = s.commit.lacking, s.commit.found
}

// settlement says what an attempt becomes, and its entry.
func (s *Sender) settlement(l *result) trade.Settlement {
	a, d := l.answer, l.decision
	attempt := l.attempt
	attempt.FinishedAt, attempt.Outcome, attempt.Reason = l.at, d.Outcome, d.Reason
	attempt.Status, attempt.Messages, attempt.RemoteID = a.Status, a.Messages, a.ID
	attempt.Evidence, attempt.RequestHead, attempt.AnswerHead = evidenceOf(a), headerOf(a.RequestHeader),
		headerOf(a.Header)
	attempt.AnswerBody = a.Excerpt()
	out := trade.Settlement{
		Attempt: attempt, State: d.State, Cause: d.Cause, Counts: d.Counts,
		NextAttemptAt: s.nextAttempt(l),
	}
	for _, flag := range []trade.Flag{trade.Twin, trade.NearTwin} {
		if l.Entry.Flags.Has(flag) {
			out.Flags = out.Flags.With(flag, true)
		}
	}
	if d.State == trade.Accepted && answerDiffers(l.Entry.Sends, attempt.Payload, a.Body) {
		out.Flags = out.Flags.With(trade.EchoDiffers, true)
	}
	if d.Cause == trade.CauseExists && attempt.Generation > 1 { // F120
		d.Reason += "; an earlier sending of this row is in doubt and very probably created it"
		out.Flags = out.Flags.With(trade.Contradicted, true)
	}
	if d.Kind != "" {
		out.Error = &trade.EntryError{
			Kind: d.Kind, Status: a.Status, Messages: a.Messages, Text: d.Reason,
			Weak: d.Weak,
		}
	}
	return out
}

// nextAttempt is when a row is due again by time.
func (s *Sender) nextAttempt(l *result) time.Time {
	switch l.decision.Retry {
	case outcome.RetrySoon:
		ceiling := min(backoffMost, backoffFirst<<min(s.row.unreached+l.Entry.Attempts, 16))
		return l.at.Add(backoffFirst/2 + rand.N(ceiling))
	case outcome.RetryLater:
		next := mapping.NoTime
		for _, m := range l.decision.Missing {
			for _, n := range run.NeedsOf(l.Entry) {
				if b, ok := s.traffic.blocks.missing[n]; ok && n.Kind == m.Kind &&
					(next.IsZero() || b.NextAt.After(next)) {
					next = b.NextAt
				}
			}
		}
		// of a kind that the document does not name: the row asks for itself
		if tries := l.Entry.Attempts + 1; len(l.decision.Missing) == 0 && tries < run.AskMost {
			next = run.NextAsk(l.at, tries, l.at)
		}
		return next
	}
	return mapping.NoTime
}

func headerOf(h http.Header) json.RawMessage {
	if len(h) == 0 {
		return nil
	}
	data, err := json.Marshal(h)
	if err != nil {
		return nil
	}
	return data
}

// settled forgets what is on disk now. An id that another entry has is no proof of anything: the
// row is in doubt, and the job stops (F100).
func (s *Sender) settled(ctx context.Context, g *storing) error {
	s.Run.Alarm(g.result.Alarms)
	for _, l := range g.settled {
		holder, conflict := g.result.Conflicts[l.attempt.ID]
		if !conflict {
			s.queue.again = s.queue.again || l.decision.State == trade.Pending && l.decision.Retry == outcome.RetryNone
			continue
		}
		l.decision = foreignID(holder)
		s.judge(l.decision)
		s.commit.settling = append(s.commit.settling, l)
	}
	for _, b := range g.group.Unblock {
		woken, err := s.due.WakeBlocked(context.WithoutCancel(ctx), s.Run.Lease, b.Kind, b.ID)
		if err != nil {
			return err
		}
		s.queue.again = s.queue.again || woken > 0
	}
	return nil
}

// foreignID is what an answer means with the id of another row.
func foreignID(other string) outcome.Decision {
	d := outcome.InDoubt("the API answered with an id that belongs to " + other)
	d.Stop = &outcome.StopOrder{
		Code: outcome.StopAnswers,
		Text: d.Reason + ": a cache or a fault of the API; look at both rows", Reach: outcome.ThisJob,
	}
	return d
}

// commitFailed keeps the answers until the ledger takes them, for Limits.KeepAnswers; the intents
// of the failed group were not sent, which is an answer too (F048, F050, F052). What the ledger
// does not take by then is settled at the next start as it was noted (Heard), or is in doubt, and
// nothing is sent twice.
func (s *Sender) commitFailed(ctx context.Context, g *storing, cause error) error {
	s.stopSending(ledgerStop(cause))
	s.commit.settling = append(g.settled, s.commit.settling...)
	s.commit.found, s.commit.lacking = append(g.group.Unblock, s.commit.found...),
		append(g.group.Block, s.commit.lacking...)
	s.giveUp(g.flights, "the ledger did not confirm the intent, so nothing was sent")
	s.withdraw()
	err := cause
	for wait := 250 * time.Millisecond; wait <= s.Run.Env.Limits.AnswersKept()/2 &&
		len(s.commit.settling) > 0; wait *= 2 {
		timer := time.NewTimer(wait)
		<-timer.C
		g := &storing{group: trade.Group{At: s.Run.Env.Clock.Now()}, settled: s.commit.settling}
		s.settleInto(&g.group)
		if g.result, err = s.intents.Commit(context.WithoutCancel(ctx), s.Run.Lease, g.group); err == nil {
			s.commit.settling, s.commit.found, s.commit.lacking = nil, nil, nil
			return s.settled(ctx, g)
		}
	}
	if len(s.commit.settling) > 0 {
		s.Run.Env.Member.Lost(s.Run.Job.Name())
	}
	s.Run.Log.Error(
		"the ledger takes no results; the next start settles the rows whose answers were noted beside the journal, and the others will be in doubt", zap.Int("rows", len(s.commit.settling)), zap.Error(err))
	s.commit.settling, s.commit.found, s.commit.lacking = nil, nil, nil
	return nil
}

// giveUp settles intents that may be durable and of which nothing was sent.
func (s *Sender) giveUp(flights []*inFlight, reason string) {
	s.takeBack(flights)
	for _, f := range flights {
		s.intents.Heard(f.attempt.ID, trade.OutcomeNotSent, 0, "")
		s.commit.settling = append(s.commit.settling,
			&result{inFlight: f, at: s.Run.Env.Clock.Now(), decision: outcome.Decision{
				Outcome: trade.OutcomeNotSent, State: trade.Pending, Reason: reason,
			}})
	}
}

func ledgerStop(cause error) error {
	return &outcome.StopError{Stop: trade.Stop{
		Code: string(outcome.StopLedger),
		Text: "the ledger cannot store: " + cause.Error(), All: true,
	}}
}

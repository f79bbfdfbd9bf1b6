// Groups of settlements and intents, and how they are stored (I1).

package sending

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// storing is a group that is being stored, and the result.
type storing struct {
	group   trade.Group
	flights []*inFlight
	settled []*result
	result  trade.GroupResult
	err     error
}

// store begins to make a group durable (I1), while requests are in flight.
func (s *Sender) store(ctx context.Context, group trade.Group, flights []*inFlight) {
	g := &storing{group: group, flights: flights, settled: s.commit.settling}
	s.commit.settling, s.commit.found, s.commit.lacking = nil, nil, nil
	for _, f := range flights {
		s.flights[f.Entry.ID] = true
	}
	s.commit.storing, s.commit.stored = g, make(chan struct{})
	if err := failpoint.Hit("group.chosen"); err != nil {
		g.err = err
		close(s.commit.stored)
		return
	}
	go func(done chan struct{}) {
		defer close(done)
		g.result, g.err = s.intents.Commit(context.WithoutCancel(ctx), s.Run.Lease, g.group)
	}(s.commit.stored)
}

// committed releases the claimed intents of a stored group. After an uncertain commit it releases
// none: entries that may be in sending on disk were not sent by us, and are settled as not sent.
func (s *Sender) committed(ctx context.Context) error {
	g, err := s.commit.storing, s.commit.storing.err
	s.commit.storing, s.commit.stored = nil, nil
	if err == nil {
		err = failpoint.Hit("group.stored")
	}
	if err != nil {
		return s.commitFailed(ctx, g, err)
	}
	if err := s.settled(ctx, g); err != nil {
		s.giveUp(slices.DeleteFunc(g.flights, func(f *inFlight) bool { return !s.claimed(g, f) }),
			"the run stopped before it was sent")
		return err
	}
	if g.result.LeaseLost {
		s.takeBack(g.flights)
		s.stopSending(s.Run.LeaseLost())
		return nil
	}
	if g.result.Paused { // requests in flight are awaited and settled
		if err := s.pausedNow(ctx); err != nil {
			s.giveUp(slices.DeleteFunc(g.flights, func(f *inFlight) bool { return !s.claimed(g, f) }),
				"the run stopped before it was sent")
			return err
		}
	}
	if g.result.Stop != nil {
		s.stopSending(&outcome.StopError{Stop: *g.result.Stop})
	}
	var cleared []*inFlight
	for _, f := range g.flights {
		if !s.claimed(g, f) {
			continue
		}
		s.Run.Report.Sent++
		s.rowLimit.begins(f.Entry.ID)
		s.Load.countBegun(f.Entry)
		cleared = append(cleared, f)
	}
	s.dispatcher.release(cleared)
	s.Run.Env.Observe(run.Progress{
		Job: s.Run.Job.Name(), Phase: run.Sending, Done: s.Run.Report.Sent - len(s.flights),
		Total: max(s.queue.due, s.Run.Report.Sent),
	})
	return nil
}

// claimed reports whether the ledger stored an intent. If not, it takes the flight back.
func (s *Sender) claimed(g *storing, f *inFlight) bool {
	if g.result.Claimed[f.attempt.ID] {
		return true
	}
	s.takeBack([]*inFlight{f})
	// another job has sent its key: the next recheck finds that
	if g.result.Elsewhere[f.attempt.ID] {
		s.queue.again, s.recheck.Alone = true, false
	}
	return false
}

// takeBack removes flights that do not leave, and what they would have asked: rows of other jobs
// may wait for the answers. They do not count for the canary either.
func (s *Sender) takeBack(flights []*inFlight) {
	for _, f := range flights {
		delete(s.flights, f.Entry.ID)
		s.traffic.blocks.answered(f.Entry.ID)
		s.brakes.Untried(f.Entry.Key)
	}
}

// commit is what is to be stored next, and the group that is being stored.
type commit struct {
	settling []*result     // results not yet passed to the ledger
	found    []trade.Block // blocks ended by an acceptance, not yet passed on
	lacking  []trade.Block // blocks made by a refusal, not yet passed on
	storing  *storing      // group that is being stored; nil: none
	stored   chan struct{} // closed when it is stored
}

// settleInto adds everything that is to be settled to a group.
func (s *Sender) settleInto(group *trade.Group) {
	group.Settle = make([]trade.Settlement, 0, len(s.commit.settling))
	for _, l := range s.commit.settling {
		group.Settle = append(group.Settle, s.settlement(l))
	}
	group.Block, group.Unblock = s.commit.lacking, s.commit.found
}

// settlement returns what an attempt and its entry become.
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

// nextAttempt returns when a row is due again by time.
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
		// a kind of record that the document does not name: the row itself asks again
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

// settled handles the results of a stored group. If the answered id belongs to another entry, it
// proves nothing: the row is in doubt, and the job stops (F100).
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

// foreignID returns the decision on an answer with the id of another row.
func foreignID(other string) outcome.Decision {
	d := outcome.InDoubt("the API answered with an id that belongs to " + other)
	d.Stop = &outcome.StopOrder{
		Code: outcome.StopAnswers,
		Text: d.Reason + ": a cache or a fault of the API; look at both rows", Reach: outcome.ThisJob,
	}
	return d
}

// commitFailed keeps the answers and tries to store them, for Limits.AnswersKept. The intents of
// the failed group were not sent, which is a result too (F048, F050, F052). What cannot be stored
// by then is in doubt at the next start; nothing is sent twice.
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
		"the ledger takes no results; these rows will be in doubt", zap.Int("rows", len(s.commit.settling)), zap.Error(err))
	s.commit.settling, s.commit.found, s.commit.lacking = nil, nil, nil
	return nil
}

// giveUp settles intents that may be durable but were not sent.
func (s *Sender) giveUp(flights []*inFlight, reason string) {
	s.takeBack(flights)
	for _, f := range flights {
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

// Groups of settlements and intents on their way to the disk (I1).

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

// storing is a group on its way to the disk, and what becomes of it.
type storing struct {
	group   trade.Group
	flights []*inFlight
	settled []*result
	result  trade.GroupResult
	err     error
}

// store hands a group over to be made durable (I1), beside the flights.
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

// committed lets the claimed intents of a stored group go. An uncertain commit lets nothing go:
// what may be on disk as sending was not sent by us, and is closed as that.
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
	if g.result.Paused { // what is in flight is awaited and settled
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

// claimed reports whether the ledger took an intent; one that it did not take is nobody's.
func (s *Sender) claimed(g *storing, f *inFlight) bool {
	if g.result.Claimed[f.attempt.ID] {
		return true
	}
	s.takeBack([]*inFlight{f})
	if g.result.Elsewhere[f.attempt.ID] { // another job has sent its key: the next look says so
		s.queue.again, s.recheck.Alone = true, false
	}
	return false
}

// takeBack takes back flights that do not leave, and their questions: rows of other jobs may wait
// for the answers. They are no canary either.
func (s *Sender) takeBack(flights []*inFlight) {
	for _, f := range flights {
		delete(s.flights, f.Entry.ID)
		s.traffic.blocks.answered(f.Entry.ID)
		s.brakes.Untried(f.Entry.Key)
	}
}

// commit is what is handed to the ledger: what has landed, and the group on its way to the disk.
type commit struct {
	settling []*result     // landed, not yet handed over
	found    []trade.Block // blocks that an acceptance ended, not yet handed over
	lacking  []trade.Block // blocks that a refusal made, not yet handed over
	storing  *storing      // the group that is being stored; nil: none
	stored   chan struct{} // closed when it is
}

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

package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/trade"
)

// messageKey is the form of a stable key (chapter 7), but for its length.
var messageKey = regexp.MustCompile(`^message\.[a-z0-9._-]+$`)

const messageKeyMost = len("message.") + 100

func isMessageKey(text string) bool {
	return len(text) <= messageKeyMost && messageKey.MatchString(text)
}

// LongestRest is how long a pass waits at most because the API asks for it.
const LongestRest = 5 * time.Minute

const (
	stopAfterUnreached = 3           // failures to reach the API in a row
	stopAfterMalformed = 3           // malformed-request in a row
	stopAfterStrange   = 3           // refusals of the request, with nothing accepted between
	throttledMost      = 5           // tries of one row in a run that ended with 429
	stopAfterRefusals  = 20          // refusals for the same reason in a row
	stopAfterDoubts    = 20          // unknown outcomes in one run
	stopAfterNoID      = 2           // 2xx without an id in a row
	longestRest        = LongestRest // that a pass waits for without an acceptance between; more ends it
	longestAsked       = time.Hour   // that a 429 can ask for
	backoffFirst       = 2 * time.Second
	backoffMost        = 15 * time.Minute
	slowest            = 64 // part of the configured rate below which 429 does not push
)

// take draws the conclusions of one landing for the job: how many may fly, whether it rests or stops, which records of the platform are there.
func (s *submission) take(l *landing) {
	delete(s.flights, l.entry.ID)
	if l.decision.outcome == trade.OutcomeNotSent {
		s.report.Sent-- // no POST was begun
		s.ration.recalled(l.entry.ID)
	} else if l.decision.state == trade.Pending {
		s.ration.returned(l.entry.ID)
	}
	s.settling = append(s.settling, l)
	d, needs := l.decision, l.needs
	s.blocks.answered(l.entry.ID)
	switch d.state {
	case trade.Accepted:
		s.found = append(s.found, s.blocks.confirm(needs)...)
	case trade.Pending:
		s.cameBack(l.entry)
	}
	if d.ask {
		s.preflown = false
	}
	if d.wait > 0 {
		if s.throttled == nil {
			s.throttled = map[int64]int{}
		}
		if s.throttled[l.entry.ID]++; s.spent(l.entry.ID) {
			l.decision.kind = trade.APIError
			l.decision.reason += fmt.Sprintf("; it was tried %d times in this run, and goes with a later one", throttledMost)
		}
	}
	for _, m := range d.missing {
		for _, n := range needs {
			if n.kind == m.kind {
				s.lacking = append(s.lacking, s.blocks.miss(n, m.message, l.at))
			}
		}
	}
	if s.calm++; !d.usual() {
		s.calm = 0
	}
	s.took = l.answer.Evidence.Duration
	s.count(d, l)
	s.pace(d, l.at)
	s.judge(d)
	if !l.usual {
		s.recall()
		s.wire.judged(s.open())
	}
	s.log.Info("attempt", zap.String("key", l.entry.Key), zap.String("attempt", l.attempt.ID), zap.String("class", string(d.outcome)),
		zap.String("state", string(d.state)), zap.Int("status", l.answer.Status), zap.Strings("messages", stableKeys(l.answer.Messages)),
		zap.Duration("duration", l.answer.Evidence.Duration))
}

// spent tells whether a row was answered with 429 so often that only a later run tries it again.
func (s *submission) spent(entryID int64) bool { return s.throttled[entryID] >= throttledMost }

// stableKeys leaves out what is no message key: a technical text may carry a person's data, and does not belong in a log (I10).
func stableKeys(messages []string) []string {
	var out []string
	for _, m := range messages {
		if isMessageKey(m) {
			out = append(out, m)
		}
	}
	return out
}

// count keeps what came in a row. Send windows that passed together, as on a machine that was suspended, count once.
func (s *submission) count(d decision, l *landing) {
	stalled := d.stalled && l.attempt.StartedAt.After(s.stalledAt)
	if stalled {
		s.stalledAt = l.at
	}
	inRow := func(n *int, yes bool) {
		if *n++; !yes {
			*n = 0
		}
	}
	inRow(&s.unknowns, d.outcome == trade.OutcomeUnknown)
	if d.outcome == trade.OutcomeUnknown {
		s.doubts++
	}
	s.countRefusal(d, l)
	inRow(&s.badForms, d.badForm)
	switch {
	case d.strange:
		s.strange, s.strangeStatus = s.strange+1, l.answer.Status
	case d.state == trade.Accepted:
		s.strange = 0
	}
	inRow(&s.noIDs, d.noID)
	if stalled || !d.stalled {
		inRow(&s.unreached, d.retry == retrySoon || stalled)
	}
}

// countRefusal counts rows that the platform refused for the same reason, one after the other. A record that it lacks is none: the rows that need it wait for one answer.
func (s *submission) countRefusal(d decision, l *landing) {
	switch refusal := fmt.Sprint(l.answer.Status, d.cause, l.answer.Messages, l.answer.Text); {
	case d.outcome == trade.OutcomeNotSent, d.outcome == trade.OutcomeUnknown:
	case d.state != trade.Rejected || len(d.missing) > 0:
		s.refusal, s.refusals = "", 0
	case refusal != s.refusal:
		s.refusal, s.refusals = refusal, 1
	default:
		s.refusals++
	}
}

// pace slows down after doubts and 429, and speeds up again with each acceptance.
func (s *submission) pace(d decision, at time.Time) {
	if d.outcome != trade.OutcomeNotSent {
		s.careful = d.outcome == trade.OutcomeUnknown
	}
	if d.outcome != trade.OutcomeUnknown && d.retry != retrySoon && !d.stalled {
		s.probing = false
	}
	rest := d.wait
	switch {
	case d.outcome == trade.OutcomeUnknown:
		s.slots = 1 // one at a time, until the API says something definite again
		if d.slow {
			rest = backoffFirst << min(s.unknowns, 6)
		}
	case d.wait > 0:
		s.slots = max(1, s.slots/2)
		if limit := s.limiter.Limit(); limit != rate.Inf {
			s.limiter.SetLimit(max(limit/2, s.crew.full()/slowest))
		}
	case d.state == trade.Accepted || d.state == trade.Rejected:
		s.slots = min(s.Limits.MaxInFlight, s.slots+1)
		if limit := s.limiter.Limit(); limit != rate.Inf {
			s.limiter.SetLimit(min(s.crew.full(), limit*1.05))
		}
	}
	if until := at.Add(rest); rest > 0 && until.After(s.restUntil) {
		if d.wait > 0 { // several answers of one moment ask for one rest
			s.rested += min(d.wait, until.Sub(s.restUntil))
		}
		s.restUntil = until
	}
	if d.state == trade.Accepted {
		s.rested = 0
	}
}

// judge stops the job where going on would make more damage or more doubts.
func (s *submission) judge(d decision) {
	code, text := stopCode(""), ""
	switch {
	case d.stop != nil:
		stop := trade.Stop{Code: string(d.stop.code), Text: d.stop.text, All: d.stop.reach == allJobs}
		if d.stop.reach == sameSends {
			stop.Sends = s.job.Spec.Sends
		}
		s.stopSending(&stopError{stop})
		return
	case s.noIDs >= stopAfterNoID:
		code, text = stopAnswers, "two answers in a row said \"created\" without an id: something between us and the API answers instead of it; look at the rows in doubt"
	case s.Limits.StopAfterUnknown > 0 && s.unknowns >= s.Limits.StopAfterUnknown:
		code, text = stopDoubts, fmt.Sprintf("%d requests in a row ended without a definite answer: look at the rows in doubt and at the API, then run `safrasync sync %s`", s.unknowns, s.job.Name())
	case s.Limits.StopAfterUnknown > 0 && s.doubts >= stopAfterDoubts:
		code, text = stopDoubts, fmt.Sprintf("%d requests of this run ended without a definite answer: look at the rows in doubt and at the API, then run `safrasync sync %s`", s.doubts, s.job.Name())
	case s.refusals >= stopAfterRefusals:
		code, text = stopRefusals, fmt.Sprintf("the platform refused %d rows in a row for the same reason, and would refuse the others: look at one of them with `safrasync rows show %s KEY`, correct the mapping or the ERP, then run `safrasync sync %s`", s.refusals, s.job.Name(), s.job.Name())
	case s.strange >= stopAfterStrange:
		code, text = stopRefusals, fmt.Sprintf("the API refused %d requests, the last with status %d, and accepted none between: look at what came back with `safrasync rows show %s KEY`, check api.base_url and the mapping, then run `safrasync sync %s`", s.strange, s.strangeStatus, s.job.Name(), s.job.Name())
	case s.badForms >= stopAfterMalformed:
		code, text = stopMalformed, fmt.Sprintf("the API could not read %d requests in a row: look at the mapping with `safrasync preview`, then run `safrasync sync %s`", s.badForms, s.job.Name())
	case s.unreached >= stopAfterUnreached, s.unreached > 0 && s.probing:
		s.stopSending(s.unreachable(d))
		return
	case s.rested > longestRest:
		s.stopSending(throttled(s.restUntil))
		return
	default:
		return
	}
	s.stopSending(s.stop(code, text))
}

// unreachable ends a run whose requests do not arrive. A service behind the gateway that cannot be reached (502) concerns the jobs that send the same.
func (s *submission) unreachable(d decision) error {
	stop := trade.Stop{Code: string(stopUnreachable), Text: "the API was not reached several times in a row; nothing is lost, the next run goes on"}
	if d.outcome == trade.OutcomeNotCreated {
		stop.Sends, stop.Text = s.job.Spec.Sends, "the API could not reach its own service several times in a row (502); nothing is lost, the next run goes on"
	}
	return &stopError{stop}
}

// throttled ends a pass that would only wait.
func throttled(until time.Time) error {
	return &stopError{trade.Stop{
		Code: string(stopThrottled), Text: "the API asks to wait until " + until.UTC().Format(time.RFC3339) + "; the rows go after that", Until: until,
	}}
}

// settleInto adds everything that has landed to a group.
func (s *submission) settleInto(group *trade.Group) {
	group.Settle = make([]trade.Settlement, 0, len(s.settling))
	for _, l := range s.settling {
		group.Settle = append(group.Settle, s.settlement(l))
	}
	group.Block, group.Unblock = s.lacking, s.found
}

// settlement says what an attempt becomes, and its entry.
func (s *submission) settlement(l *landing) trade.Settlement {
	a, d := l.answer, l.decision
	attempt := l.attempt
	attempt.FinishedAt, attempt.Outcome, attempt.Reason = l.at, d.outcome, d.reason
	attempt.Status, attempt.Messages, attempt.RemoteID = a.Status, a.Messages, a.ID
	attempt.Evidence, attempt.RequestHead, attempt.AnswerHead = evidenceOf(a), headerOf(a.RequestHeader), headerOf(a.Header)
	attempt.AnswerBody = a.Excerpt()
	out := trade.Settlement{Attempt: attempt, State: d.state, Cause: d.cause, Counts: d.counts, NextAttemptAt: s.nextAttempt(l)}
	for _, flag := range []trade.Flag{trade.Twin, trade.NearTwin} {
		if l.entry.Flags.Has(flag) {
			out.Flags = out.Flags.With(flag, true)
		}
	}
	if d.state == trade.Accepted && echoDiffers(l.entry.Sends, attempt.Payload, a.Body) {
		out.Flags = out.Flags.With(trade.EchoDiffers, true)
	}
	if d.cause == trade.CauseExists && attempt.Generation > 1 { // F120
		d.reason += "; an earlier sending of this row is in doubt and very probably created it"
		out.Flags = out.Flags.With(trade.Contradicted, true)
	}
	if d.kind != "" {
		out.Error = &trade.EntryError{Kind: d.kind, Status: a.Status, Messages: a.Messages, Text: d.reason, Weak: d.weak}
	}
	return out
}

// nextAttempt is when a row is due again by time.
func (s *submission) nextAttempt(l *landing) time.Time {
	switch l.decision.retry {
	case retrySoon:
		ceiling := min(backoffMost, backoffFirst<<min(s.unreached+l.entry.Attempts, 16))
		return l.at.Add(backoffFirst/2 + rand.N(ceiling))
	case retryLater:
		next := noTime
		for _, m := range l.decision.missing {
			for _, n := range needsOf(l.entry) {
				if b, ok := s.blocks.missing[n]; ok && n.kind == m.kind && (next.IsZero() || b.NextAt.After(next)) {
					next = b.NextAt
				}
			}
		}
		if tries := l.entry.Attempts + 1; len(l.decision.missing) == 0 && tries < askMost { // of a kind that the document does not name: the row asks for itself
			next = nextAsk(l.at, tries, l.at)
		}
		return next
	}
	return noTime
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

// settled forgets what is on disk now. An id that another entry has is no proof of anything: the row is in doubt, and the job stops (F100).
func (s *submission) settled(ctx context.Context, g *storing) error {
	s.alarm(g.result.Alarms)
	for _, l := range g.settled {
		holder, conflict := g.result.Conflicts[l.attempt.ID]
		if !conflict {
			s.again = s.again || l.decision.state == trade.Pending && l.decision.retry == retryNone
			continue
		}
		l.decision = idOf(holder)
		s.judge(l.decision)
		s.settling = append(s.settling, l)
	}
	for _, b := range g.group.Unblock {
		woken, err := s.ledger.WakeBlocked(context.WithoutCancel(ctx), s.lease, b.Kind, b.ID)
		if err != nil {
			return err
		}
		s.again = s.again || woken > 0
	}
	return nil
}

// idOf is what an answer means with the id of another row.
func idOf(other string) decision {
	d := inDoubt("the API answered with an id that belongs to " + other)
	d.stop = &stopOrder{stopAnswers, d.reason + ": a cache or a fault of the API; look at both rows", thisJob}
	return d
}

// commitFailed keeps the answers until the ledger takes them, for Limits.KeepAnswers; the intents of the failed group were not sent, which is an answer too (F048,
// F050, F052). What the ledger does not take by then is settled at the next start as it was noted (Heard), or is
// in doubt, and nothing is sent twice.
func (s *submission) commitFailed(ctx context.Context, g *storing, cause error) error {
	s.stopSending(ledgerStop(cause))
	s.settling = append(g.settled, s.settling...)
	s.found, s.lacking = append(g.group.Unblock, s.found...), append(g.group.Block, s.lacking...)
	s.giveUp(g.flights, "the ledger did not confirm the intent, so nothing was sent")
	s.recall()
	err := cause
	for wait := 250 * time.Millisecond; wait <= s.Limits.keepAnswers()/2 && len(s.settling) > 0; wait *= 2 {
		timer := time.NewTimer(wait)
		<-timer.C
		g := &storing{group: trade.Group{At: s.Clock.Now()}, settled: s.settling}
		s.settleInto(&g.group)
		if g.result, err = s.ledger.Commit(context.WithoutCancel(ctx), s.lease, g.group); err == nil {
			s.settling, s.found, s.lacking = nil, nil, nil
			return s.settled(ctx, g)
		}
	}
	if len(s.settling) > 0 {
		s.crew.lost(s.job.Name())
	}
	s.log.Error("the ledger takes no results; the next start settles the rows whose answers were noted beside the journal, and the others will be in doubt", zap.Int("rows", len(s.settling)), zap.Error(err))
	s.settling, s.found, s.lacking = nil, nil, nil
	return nil
}

// giveUp settles intents that may be durable and of which nothing was sent.
func (s *submission) giveUp(flights []*flight, reason string) {
	s.land(flights)
	for _, f := range flights {
		s.ledger.Heard(f.attempt.ID, trade.OutcomeNotSent, 0, "")
		s.settling = append(s.settling, &landing{flight: f, at: s.Clock.Now(), decision: decision{
			outcome: trade.OutcomeNotSent, state: trade.Pending, reason: reason,
		}})
	}
}

func ledgerStop(cause error) error {
	return &stopError{trade.Stop{Code: string(stopLedger), Text: "the ledger cannot store: " + cause.Error(), All: true}}
}

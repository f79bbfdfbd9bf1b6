// The way of the due rows of one job, from the ledger to the platform and back: Send, below.

package sending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Sender sends the due entries of one job. One goroutine, that of Send, owns all of its fields;
// requests and rechecks run in goroutines of their own and report through channels.
type Sender struct {
	*run.Run
	due      run.Queue
	intents  run.Intents
	recheck  *Checker
	brakes   *brakes.Guard
	rowLimit *RowLimit // which rows it may send, and how many
	AnyHour  bool      // send outside the job's hours too
	// Renew makes the run use a de-para that has been corrected since it began
	Renew   func(context.Context) error
	traffic *Traffic

	queue       queue
	flying      int           // intents that are durable and have no answer yet
	answers     chan *flight  // flights that have ended
	settling    []*flight     // flights that are judged and not yet stored
	endedBlocks []trade.Block // blocks ended by an acceptance, not yet stored
	newBlocks   []trade.Block // blocks made by a refusal, not yet stored
	pace        pace
	streaks     streaks
	Load        load

	halted     chan struct{} // closed when nothing more may be sent
	stopReason error         // why
	probed     bool          // the harmless GET was sent since the last answer that asks for one
}

// flight is one attempt: its intent, then its request, then its answer.
type flight struct {
	Entry    trade.Entry
	attempt  trade.Attempt
	recordID int64         // the number of its sending in the ledger
	needs    []run.Need    // records of the platform that it refers to
	intent   time.Duration // Boot time just before the commit of its intent

	answer   apiclient.Answer
	decision outcome.Decision
	at       time.Time // when it ended
}

// New returns a sender for what is due. status is the job's status before the run: if the API had
// asked to wait, the sender waits until then.
func New(r *run.Run, c *Checker, g *brakes.Guard, n *RowLimit, t *Traffic, q run.Queue, i run.Intents,
	status trade.JobStatus,
) (*Sender, error) {
	s := &Sender{
		Run: r, due: q, intents: i, recheck: c, brakes: g, rowLimit: n, traffic: t,
		answers: make(chan *flight, r.Limits.MaxInFlight), halted: make(chan struct{}),
		pace: pace{slots: r.Limits.MaxInFlight}, queue: queue{like: map[int64]bool{}},
		streaks: streaks{throttled: map[int64]int{}},
	}
	if stop := status.Stop; stop != nil && status.State == trade.BackingOff &&
		stop.Code == string(outcome.StopThrottled) {
		switch rest := stop.Until.Sub(r.Now); {
		case rest > LongestAsked: // the clock was wrong
		case rest > LongestRest:
			return nil, throttled(stop.Until)
		case rest > 0:
			s.pace.restUntil = stop.Until
		}
	}
	if wait := r.Member.Wait(); wait > 0 {
		if until := r.Clock.Now().Add(wait); until.After(s.pace.restUntil) {
			s.pace.restUntil = until
		}
	}
	return s, nil
}

// Send sends until nothing is due or something stops it. With a quota other than 0 it also ends
// when that many rows were begun or sliceTime has passed. It waits for what is in flight, and
// settles it. finished is false if more is due.
//
// Each turn of the loop takes the steps below. What a crash leaves stands at each; the next run
// settles what is left in state sending before it sends anything (run.Runs.Recover).
func (s *Sender) Send(ctx context.Context, quota int) (finished bool, err error) {
	if err := s.begin(ctx, quota); err != nil {
		return false, err
	}
	for {
		// 1. Answers that have come are judged: they decide what may go next. A crash here, or at any
		// step until they are stored, leaves their rows in doubt (I2).
		s.processAnswers()

		// 2. Rows are made ready: read again in the ERP (I8) and compared with all records (I3), while
		// requests are in flight. A crash changes nothing.
		if ctx.Err() != nil {
			s.stopSending(interrupted())
		}
		more := false
		if s.stopReason == nil && s.queue.quota != 0 {
			more, err = s.makeReady(ctx)
			if err != nil {
				s.stopSending(err)
			}
		}

		// 3. One group: the settlements of what was judged, and the intents of rows for the free slots
		// (I11), no more than the rate limit lets go.
		group := trade.Group{At: s.Clock.Now()}
		s.settleInto(&group)
		var flights []*flight
		if s.stopReason == nil && more {
			flights = s.choose(ctx, &group)
		}
		if !group.Empty() {
			// 4. The group becomes durable in one transaction (I1): the journal's record is flushed, then
			// the ledger has it. A crash before the flush changes nothing, and the answers of this group
			// are lost: doubts. After it the settlements count, and the intents are doubts.
			//
			// 5. What the ledger has claimed leaves at once. A crash from here on leaves a doubt.
			if err := s.store(ctx, group, flights); err != nil {
				s.stopSending(err)
			}
			continue
		}

		// 6. Nothing can be done before an answer, a batch of rows, a token or the end of a rest comes.
		if s.flying == 0 && s.queue.preparing == nil {
			switch {
			case s.stopReason != nil:
				return false, s.stopReason
			case s.queue.quota == 0:
				return false, nil
			case !more:
				return true, nil
			}
		}
		// It waits for an answer, a batch of rows, the next token, the end of a rest, or the end of the
		// run, so that a parked or resting queue does not spin.
		var wake <-chan time.Time
		done := ctx.Done()
		if s.stopReason != nil {
			done = nil
		} else if more {
			if d := s.pause(); d > 0 {
				if s.queue.quota > 0 { // the other jobs have their turn then
					d = min(d, max(s.queue.until-s.Clock.Boot(), 0))
				}
				wake = time.NewTimer(d).C
			} else if s.flying == 0 && s.queue.preparing == nil {
				continue
			}
		}
		select {
		case f := <-s.answers:
			s.processAnswer(f)
		case p := <-s.queue.preparing:
			if err := s.startPrepared(ctx, p); err != nil {
				s.stopSending(err)
			}
		case <-wake:
		case <-done:
		}
	}
}

// choose takes ready rows as flights: no more than the free slots (I11) and the tokens of the rate
// limit allow, and only one row for each record that the platform may lack. It adds their intents to
// the group. The send window starts here, before the commit (I13).
func (s *Sender) choose(ctx context.Context, group *trade.Group) []*flight {
	// a machine that was suspended still has its lease, unless another took it
	if !s.Keeper.Trusted() && !s.Keeper.Renew(ctx) {
		s.stopSending(s.LeaseLost())
		return nil
	}
	if s.pace.resting(s.Clock.Now()) > 0 {
		s.observe(run.Resting, s.pace.restUntil.Format(time.RFC3339))
		return nil
	}
	if !s.probed || s.Clock.Boot()-s.queue.readAt > HoldsFor { // something took long meanwhile
		return nil
	}
	group.Like, group.Space = s.queue.like, s.Job.Identity.Space
	var flights []*flight
	for len(s.queue.ready) > 0 && s.flying+len(flights) < s.pace.slots && s.queue.quota != 0 &&
		s.brakes.TrialRemaining() != 0 {
		entry := s.queue.ready[0]
		needs := run.NeedsOf(entry)
		block, blocked := s.traffic.blocks.blocking(needs, group.At)
		switch {
		case !s.rowLimit.allows(entry, flights): // it stays pending
		case blocked:
			from := entry.State
			entry.Wait(block.Message, block.NextAt, trade.Awaited{Platform: block.Kind, ID: block.ID})
			entry.UpdatedAt = group.At
			group.Updates = append(group.Updates, trade.Update{From: from, Entry: entry})
		case s.traffic.blocks.probing(needs):
			s.queue.parked = append(s.queue.parked, entry)
		case !s.traffic.Pace.Allow(s.Clock.Now()):
			return flights
		default:
			for _, n := range needs { // the entry is sent with records that may not exist
				if !s.traffic.blocks.Known(n) {
					s.traffic.blocks.askedBy[n] = entry.ID
					s.traffic.blocks.asks[entry.ID] = append(s.traffic.blocks.asks[entry.ID], n)
				}
			}
			f := &flight{Entry: entry, needs: needs, intent: s.Clock.Boot(), attempt: trade.Attempt{
				ID: uuid.Must(uuid.NewV7()).String(), EntryID: entry.ID, Generation: entry.Generation,
				RunID: s.Report.ID, Owner: s.Lease.Owner.Instance, Epoch: s.Lease.Epoch,
				Target: entry.Target, Payload: entry.Payload, PayloadHash: entry.PayloadHash, StartedAt: group.At,
			}}
			flights = append(flights, f)
			group.Intents = append(group.Intents, trade.Intent{Entry: entry, Attempt: f.attempt})
			s.brakes.Tried(entry.Key)
			if s.queue.quota > 0 {
				s.queue.quota--
			}
		}
		s.queue.ready = s.queue.ready[1:]
	}
	return flights
}

// store makes a group durable (I1), takes up what the ledger says of its settlements, and sends the
// intents that it has claimed. After an uncertain commit it sends none: entries that may be in
// sending on disk were not sent by us, and are settled as not sent.
func (s *Sender) store(ctx context.Context, group trade.Group, flights []*flight) error {
	settled := s.settling
	s.settling, s.endedBlocks, s.newBlocks = nil, nil, nil
	err := failpoint.Hit("group.chosen")
	var result trade.GroupResult
	if err == nil {
		result, err = s.intents.Commit(context.WithoutCancel(ctx), s.Lease, group)
	}
	if err == nil {
		err = failpoint.Hit("group.stored")
	}
	if err != nil {
		s.stopSending(&outcome.StopError{Stop: trade.Stop{
			Code: string(outcome.StopLedger), Why: trade.Say("stop.ledger.store", "cause", err), All: true,
		}})
		s.giveUp(flights, trade.Say("attempt.no_intent"))
		// The answers of this group that the ledger did not take, and those that come meanwhile, are tried for
		// Limits.AnswerTimeout. That an intent was not sent is an answer too (F048, F050, F052). What cannot be
		// stored by then is in doubt at the next start; nothing is sent twice. If the process ends with its pass
		// and the journal has all answers, it does not wait for a full disk: the next process takes them from
		// there.
		s.settling = append(settled, s.settling...)
		s.endedBlocks, s.newBlocks = append(group.Unblock, s.endedBlocks...), append(group.Block, s.newBlocks...)
		kept, most := false, s.Limits.AnswerTimeout()/2
		for wait := 250 * time.Millisecond; wait <= most && len(s.settling) > 0 && !kept; wait *= 2 {
			<-time.NewTimer(wait).C
			s.processAnswers()
			late := trade.Group{At: s.Clock.Now()}
			s.settleInto(&late)
			var result trade.GroupResult
			result, err = s.intents.Commit(context.WithoutCancel(ctx), s.Lease, late)
			if err == nil {
				flights := s.settling
				s.settling, s.endedBlocks, s.newBlocks = nil, nil, nil
				return s.settled(ctx, late, flights, result)
			}
			var full trade.JournalledError
			kept = s.Limits.Ends && s.flying == 0 && errors.As(err, &full)
		}
		if len(s.settling) > 0 {
			s.Member.MarkUnstored(s.Job.Name())
		}
		said := "the ledger takes no results; these rows will be in doubt"
		if kept {
			said = "the ledger's disk is full; the journal has the answers, and the next run takes them from there"
		}
		s.Log.Error(said, zap.Int("rows", len(s.settling)), zap.Error(err))
		s.settling, s.endedBlocks, s.newBlocks = nil, nil, nil
		return nil
	}
	claimed := slices.DeleteFunc(flights, func(f *flight) bool {
		if result.Claimed[f.attempt.ID] {
			f.recordID = result.Sendings[f.attempt.ID]
			return false
		}
		s.unregister(f)
		// another job has sent its key, or a record is like it: the next recheck finds that
		s.queue.restart = s.queue.restart || result.Elsewhere[f.attempt.ID]
		return true
	})
	if err := s.settled(ctx, group, settled, result); err != nil {
		s.giveUp(claimed, trade.Say("attempt.run_stopped"))
		return err
	}
	switch {
	case result.LeaseLost:
		s.stopSending(s.LeaseLost())
		return nil
	case result.Paused: // by a person; requests in flight are awaited and settled
		status, err := s.due.JobStatus(ctx, s.Job.Name())
		if err != nil {
			s.giveUp(claimed, trade.Say("attempt.run_stopped"))
			return err
		}
		s.stopSending(&outcome.StopError{Stop: *run.PausedStop(status)})
	case result.Refused != nil:
		s.stopSending(&outcome.StopError{Stop: run.StopOf(result.Refused)})
	}
	for _, f := range claimed {
		s.flying++
		s.Report.Sent++
		if !s.rowLimit.again[f.Entry.ID] {
			s.rowLimit.Rows++
		}
		s.Load.Went.Add(f.Entry)
		go s.post(ctx, f)
	}
	s.observe(run.Sending, "")
	return nil
}

// post sends one request and passes the flight back with its answer. The request outlives the run's
// context: what is in flight is awaited.
func (s *Sender) post(ctx context.Context, f *flight) {
	// the last look before the first byte, after the connection was got: the window (I13), the lease
	// (I12), and that nothing has stopped
	gate := func() error {
		switch {
		case s.Clock.Boot()-f.intent > SendWindow:
			return errWindow
		case !s.Keeper.Trusted():
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
	var err error
	f.answer, err = s.Platform.Submit(context.WithoutCancel(ctx), f.Entry.Sends, f.attempt.Target,
		f.attempt.Payload, gate)
	fault := apiclient.FaultNone
	if failure, ok := errors.AsType[*apiclient.CallError](err); ok {
		f.answer, fault = failure.Answer, failure.Fault
	}
	if failpoint.Hit("answer.here") != nil { // as if the answer got lost in this process
		f.answer, fault = apiclient.Answer{Known: apiclient.Unknown}, apiclient.FaultNetwork
	}
	f.decision, f.at = outcome.Decide(f.answer, fault, s.Limits.Strict), s.Clock.Now()
	if field := otherField(f.Entry.Sends, f.attempt.Payload, f.answer.Body); field != "" &&
		f.decision.State == trade.Accepted {
		f.decision, f.answer.ID = outcome.AnotherRequest(field, f.answer.ID), ""
	}
	s.answers <- f
}

// processAnswers judges all answers that have come, without waiting.
func (s *Sender) processAnswers() {
	for {
		select {
		case f := <-s.answers:
			s.processAnswer(f)
		default:
			return
		}
	}
}

// processAnswer applies one answer to the job: which records the platform has, what the results in a row
// are (streaks), how many requests may be in flight and whether the job rests (adjustPace), and whether it
// stops (judge). The answer itself is stored with the next group (settleInto).
func (s *Sender) processAnswer(f *flight) {
	s.flying--
	s.settling = append(s.settling, f)
	d := f.decision
	if d.Outcome == trade.OutcomeNotSent {
		s.Report.Sent-- // no POST was begun
		if !s.rowLimit.again[f.Entry.ID] {
			s.rowLimit.Rows--
		}
	} else if d.State == trade.Pending {
		s.rowLimit.again[f.Entry.ID] = true
	}
	s.traffic.blocks.answered(f.Entry.ID)
	switch d.State {
	case trade.Accepted:
		s.endedBlocks = append(s.endedBlocks, s.traffic.blocks.confirm(f.needs)...)
	case trade.Pending:
		s.brakes.Untried(f.Entry.Key)
		var kept trade.Freight // it was certainly not sent
		kept.Add(f.Entry)
		s.Load.Went = s.Load.Went.Less(kept)
	}
	if d.ProbeAgain {
		s.probed = false
	}
	if d.Wait > 0 {
		s.streaks.throttled[f.Entry.ID]++
		if s.streaks.throttled[f.Entry.ID] >= throttledMost { // only a later run tries it again
			f.decision.Kind = trade.APIError
			f.decision.Reason = trade.Say("attempt.throttled_often", "why", d.Reason, "tries", throttledMost)
		}
	}
	for _, m := range d.Missing {
		for _, n := range f.needs {
			if n.Kind == m.Kind {
				s.newBlocks = append(s.newBlocks, s.traffic.blocks.reportMissing(n, m.Message, f.at))
			}
		}
	}
	// send windows that passed together, as on a machine that was suspended, count once
	stalled := d.Stalled && f.attempt.StartedAt.After(s.streaks.stalledAt)
	if stalled {
		s.streaks.stalledAt = f.at
	}
	more := func(count *int, yes bool) {
		*count++
		if !yes {
			*count = 0
		}
	}
	more(&s.streaks.unknowns, d.Outcome == trade.OutcomeUnknown)
	if d.Outcome == trade.OutcomeUnknown {
		s.streaks.doubts++
	}
	// rows that the platform refused for the same reason, but not for a missing record: the rows that need
	// it wait for one answer
	switch refusal := fmt.Sprint(f.answer.Status, d.Cause, f.answer.Messages, f.answer.Text); {
	case d.Outcome == trade.OutcomeNotSent, d.Outcome == trade.OutcomeUnknown:
	case d.State != trade.Rejected || len(d.Missing) > 0:
		s.streaks.refusal, s.streaks.refusals = "", 0
	case refusal != s.streaks.refusal:
		s.streaks.refusal, s.streaks.refusals = refusal, 1
	default:
		s.streaks.refusals++
	}
	more(&s.streaks.badForms, d.BadForm)
	switch {
	case d.RequestRefused:
		s.streaks.strange, s.streaks.strangeStatus = s.streaks.strange+1, f.answer.Status
	case d.State == trade.Accepted:
		s.streaks.strange = 0
	}
	more(&s.streaks.noIDs, d.NoID || d.EchoDiffers)
	if stalled || !d.Stalled {
		more(&s.streaks.unreached, d.Retry == outcome.RetrySoon || stalled)
	}
	s.adjustPace(d, f.at)
	s.judge(d)
	s.Log.Info("attempt", zap.Int64("row", f.Entry.ID),
		zap.String("attempt", f.attempt.ID), zap.String("class", string(d.Outcome)),
		zap.String("state", string(d.State)), zap.Int("status", f.answer.Status),
		zap.Strings("messages", outcome.StableKeys(f.answer.Messages)),
		zap.Duration("duration", f.answer.Evidence.Duration))
}

// settled takes up what the ledger says of the settlements of a stored group. If the answered id
// belongs to another entry, it proves nothing: the row is in doubt, and the job stops (F100).
func (s *Sender) settled(ctx context.Context, group trade.Group, flights []*flight, result trade.GroupResult) error {
	s.Alarm(result.Alarms)
	for _, f := range flights {
		holder, conflict := result.Conflicts[f.attempt.ID]
		if !conflict {
			s.queue.restart = s.queue.restart ||
				f.decision.State == trade.Pending && f.decision.Retry == outcome.RetryNone
			continue
		}
		f.decision = outcome.InDoubt(trade.Say("attempt.id_taken", "holder", holder))
		f.decision.Stop = &outcome.StopOrder{
			Code: outcome.StopAnswers, Reach: outcome.ThisJob,
			Why: trade.Say("stop.answers.taken", "why", f.decision.Reason),
		}
		s.judge(f.decision)
		s.settling = append(s.settling, f)
	}
	for _, b := range group.Unblock {
		woken, err := s.due.WakeBlocked(context.WithoutCancel(ctx), s.Lease, b.Kind, b.ID)
		if err != nil {
			return err
		}
		s.queue.restart = s.queue.restart || woken > 0
	}
	return nil
}

// giveUp settles intents that may be durable but were not sent.
func (s *Sender) giveUp(flights []*flight, reason trade.Sentence) {
	for _, f := range flights {
		s.unregister(f)
		f.at, f.decision = s.Clock.Now(), outcome.Decision{
			Outcome: trade.OutcomeNotSent, State: trade.Pending, Reason: reason,
		}
		s.settling = append(s.settling, f)
	}
}

// unregister removes what a flight that does not leave would have asked: rows of other jobs may wait
// for the answer. It does not count for the canary either.
func (s *Sender) unregister(f *flight) {
	s.traffic.blocks.answered(f.Entry.ID)
	s.brakes.Untried(f.Entry.Key)
}

// stopSending stops all sending. The first reason is kept.
func (s *Sender) stopSending(err error) {
	if s.stopReason == nil {
		s.stopReason = err
		close(s.halted)
	}
}

func (s *Sender) observe(phase run.Phase, note string) {
	s.Observe(run.Progress{
		Job: s.Job.Name(), Phase: phase, Done: s.Report.Sent - s.flying,
		Total: max(s.queue.due, s.Report.Sent), Note: note,
	})
}

// pause returns how long nothing can be sent although something is due: because the API asked to
// wait, until the next token of the rate limit, or, where what is ready may go by now, for a moment.
func (s *Sender) pause() time.Duration {
	if d := s.pace.resting(s.Clock.Now()); d > 0 {
		return d
	}
	if s.flying >= s.pace.slots || len(s.queue.ready) == 0 || s.brakes.TrialRemaining() == 0 {
		return 0
	}
	return max(s.traffic.Pace.Delay(), time.Millisecond)
}

// SendWindow is the longest time from an intent to its first byte (I13).
const SendWindow = 10 * time.Second

// sliceTime is the longest turn with a quota, even if few rows were sent: the API may be slow.
const sliceTime = time.Minute

// Errors of the gate: the attempt is given up before a byte leaves.
var (
	errWindow  = errors.New("more than 10 s passed between the intent and the first byte")
	errHalted  = errors.New("the job stopped before the first byte left")
	errNoLease = errors.New("the job's lease is not ours for certain any more")
)

func interrupted() error { return &outcome.StopError{Stop: outcome.Interrupted()} }

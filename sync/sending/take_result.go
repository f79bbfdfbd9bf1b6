package sending

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

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

// judge stops the job where going on would make more damage or more doubts.
func (s *Sender) judge(d outcome.Decision) {
	code, text := outcome.StopCode(""), ""
	switch {
	case d.Stop != nil:
		stop := trade.Stop{Code: string(d.Stop.Code), Text: d.Stop.Text, All: d.Stop.Reach == outcome.AllJobs}
		if d.Stop.Reach == outcome.SameSends {
			stop.Sends = s.Run.Job.Spec.Sends
		}
		s.stopSending(&outcome.StopError{Stop: stop})
		return
	case s.row.noIDs >= stopAfterNoID:
		code, text = outcome.StopAnswers,
			"two answers in a row said \"created\" without an id: something between us and the API answers instead of it; look at the rows in doubt"
	case s.Run.Env.Limits.StopAfterUnknown > 0 && s.row.unknowns >= s.Run.Env.Limits.StopAfterUnknown:
		code, text = outcome.StopDoubts,
			fmt.Sprintf(
				"%d requests in a row ended without a definite answer: look at the rows in doubt and at the API, then run `safrasync sync %s`", s.row.unknowns, s.Run.Job.Name())
	case s.Run.Env.Limits.StopAfterUnknown > 0 && s.row.doubts >= stopAfterDoubts:
		code, text = outcome.StopDoubts,
			fmt.Sprintf(
				"%d requests of this run ended without a definite answer: look at the rows in doubt and at the API, then run `safrasync sync %s`", s.row.doubts, s.Run.Job.Name())
	case s.row.refusals >= stopAfterRefusals:
		code, text = outcome.StopRefusals,
			fmt.Sprintf(
				"the platform refused %d rows in a row for the same reason, and would refuse the others: look at one of them with `safrasync rows show %s KEY`, correct the mapping or the ERP, then run `safrasync sync %s`", s.row.refusals, s.Run.Job.Name(), s.Run.Job.Name())
	case s.row.strange >= stopAfterStrange:
		code, text = outcome.StopRefusals,
			fmt.Sprintf(
				"the API refused %d requests, the last with status %d, and accepted none between: look at what came back with `safrasync rows show %s KEY`, check api.base_url and the mapping, then run `safrasync sync %s`", s.row.strange, s.row.strangeStatus, s.Run.Job.Name(), s.Run.Job.Name())
	case s.row.badForms >= stopAfterMalformed:
		code, text = outcome.StopMalformed,
			fmt.Sprintf(
				"the API could not read %d requests in a row: look at the mapping with `safrasync preview`, then run `safrasync sync %s`", s.row.badForms, s.Run.Job.Name())
	case s.row.unreached >= stopAfterUnreached, s.row.unreached > 0 && s.traffic.Probing:
		s.stopSending(unreachable(s.Run.Job.Spec.Sends, d))
		return
	case s.pace.rested > longestRest:
		s.stopSending(throttled(s.pace.restUntil))
		return
	default:
		return
	}
	s.stopSending(s.Run.Stop(code, text))
}

// unreachable ends a run whose requests do not arrive. A service behind the gateway that cannot be
// reached (502) concerns the jobs that send the same.
func unreachable(sends trade.Kind, d outcome.Decision) error {
	stop := trade.Stop{
		Code: string(outcome.StopUnreachable),
		Text: "the API was not reached several times in a row; nothing is lost, the next run goes on",
	}
	if d.Outcome == trade.OutcomeNotCreated {
		stop.Sends, stop.Text = sends,
			"the API could not reach its own service several times in a row (502); nothing is lost, the next run goes on"
	}
	return &outcome.StopError{Stop: stop}
}

// throttled ends a pass that would only wait.
func throttled(until time.Time) error {
	return &outcome.StopError{Stop: trade.Stop{
		Code: string(outcome.StopThrottled), Text: "the API asks to wait until " + until.UTC().Format(time.RFC3339) +
			"; the rows go after that", Until: until,
	}}
}

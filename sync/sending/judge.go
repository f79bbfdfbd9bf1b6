// Which results stop the job.

package sending

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// judge stops the job if going on would do more damage or leave more doubts.
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
				"%d requests in a row ended without a definite answer: check the rows in doubt and the API, then run `safrasync sync %s`", s.row.unknowns, s.Run.Job.Name())
	case s.Run.Env.Limits.StopAfterUnknown > 0 && s.row.doubts >= stopAfterDoubts:
		code, text = outcome.StopDoubts,
			fmt.Sprintf(
				"%d requests of this run ended without a definite answer: check the rows in doubt and the API, then run `safrasync sync %s`", s.row.doubts, s.Run.Job.Name())
	case s.row.refusals >= stopAfterRefusals:
		code, text = outcome.StopRefusals,
			fmt.Sprintf(
				"the platform refused %d rows in a row for the same reason, and would refuse the others: see one of them with `safrasync why %s KEY`, correct the mapping or the ERP, then run `safrasync sync %s`", s.row.refusals, s.Run.Job.Name(), s.Run.Job.Name())
	case s.row.strange >= stopAfterStrange:
		code, text = outcome.StopRefusals,
			fmt.Sprintf(
				"the API refused %d requests, the last with status %d, and accepted none in between: see the answers with `safrasync why %s KEY`, check api.base_url and the mapping, then run `safrasync sync %s`", s.row.strange, s.row.strangeStatus, s.Run.Job.Name(), s.Run.Job.Name())
	case s.row.badForms >= stopAfterMalformed:
		code, text = outcome.StopMalformed,
			fmt.Sprintf(
				"the API could not read %d requests in a row: check the mapping with `safrasync why --request`, then run `safrasync sync %s`", s.row.badForms, s.Run.Job.Name())
	case s.row.unreached >= stopAfterUnreached, s.row.unreached > 0 && s.traffic.Probing:
		s.stopSending(unreachable(s.Run.Job.Spec.Sends, d))
		return
	case s.pace.rested > LongestRest:
		s.stopSending(throttled(s.pace.restUntil))
		return
	default:
		return
	}
	s.stopSending(s.Run.Stop(code, text))
}

// unreachable returns the stop of a run whose requests do not arrive. If the gateway cannot reach a
// service behind it (502), only the jobs that send the same kind are concerned.
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

// throttled returns the stop of a pass that would only wait.
func throttled(until time.Time) error {
	return &outcome.StopError{Stop: trade.Stop{
		Code: string(outcome.StopThrottled), Text: "the API asks to wait until " + until.UTC().Format(time.RFC3339) +
			"; the rows go after that", Until: until,
	}}
}

// Which results stop a run or make it rest.
const (
	stopAfterUnreached = 3         // failures to reach the API in a row
	stopAfterMalformed = 3         // malformed-request in a row
	stopAfterStrange   = 3         // refusals of the request without an accepted row between them
	throttledMost      = 5         // tries of one row in a run that ended with 429
	stopAfterRefusals  = 20        // refusals for the same reason in a row
	stopAfterDoubts    = 20        // unknown outcomes in one run
	stopAfterNoID      = 2         // 2xx without an id in a row
	LongestAsked       = time.Hour // the longest wait that a 429 can ask for
	backoffFirst       = 2 * time.Second
	backoffMost        = 15 * time.Minute
)

// LongestRest is how long a pass waits in all because the API asks it to, without an acceptance in
// between; a longer wait ends the pass.
const LongestRest = 5 * time.Minute

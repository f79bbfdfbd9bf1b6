// Which results stop the job.

package sending

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// judge stops the job if going on would do more damage or leave more doubts. The scheduler opens a circuit
// for the stop (sync.Scheduler.stopped), and ends it by time, by a GET, or not at all.
func (s *Sender) judge(d outcome.Decision) {
	stop := func(code outcome.StopCode, say string, count int) {
		s.stopSending(s.Stop(code, trade.Say(say, "count", count, "job", s.Job.Name())))
	}
	most := s.Limits.StopAfterUnknown
	switch {
	case d.Stop != nil:
		stop := trade.Stop{Code: string(d.Stop.Code), Why: d.Stop.Why, All: d.Stop.Reach == outcome.AllJobs}
		if d.Stop.Reach == outcome.SameSends {
			stop.Sends = s.Job.Spec.Sends
		}
		s.stopSending(&outcome.StopError{Stop: stop})
	case s.streaks.noIDs >= stopAfterNoID:
		why := trade.Say("stop.answers.no_id")
		if d.EchoDiffers {
			why = trade.Say("stop.answers.another")
		}
		s.stopSending(s.Stop(outcome.StopAnswers, why))
	case most > 0 && s.streaks.unknowns >= most:
		stop(outcome.StopDoubts, "stop.in_doubt.row", s.streaks.unknowns)
	case most > 0 && s.streaks.doubts >= stopAfterDoubts:
		stop(outcome.StopDoubts, "stop.in_doubt.run", s.streaks.doubts)
	case s.streaks.refusals >= stopAfterRefusals:
		stop(outcome.StopRefusals, "stop.refusals.same", s.streaks.refusals)
	case s.streaks.strange >= stopAfterStrange:
		s.stopSending(s.Stop(outcome.StopRefusals, trade.Say("stop.refusals.strange",
			"count", s.streaks.strange, "status", s.streaks.strangeStatus, "job", s.Job.Name())))
	case s.streaks.badForms >= stopAfterMalformed:
		stop(outcome.StopMalformed, "stop.malformed.row", s.streaks.badForms)
	case s.streaks.unreached >= stopAfterUnreached, s.streaks.unreached > 0 && s.traffic.Probing:
		stop := trade.Stop{Code: string(outcome.StopUnreachable), Why: trade.Say("stop.api_unreachable")}
		// the gateway cannot reach a service behind it (502): only jobs that send the same kind are concerned
		if d.Outcome == trade.OutcomeNotCreated {
			stop.Sends, stop.Why = s.Job.Spec.Sends, trade.Say("stop.api_unreachable.service")
		}
		s.stopSending(&outcome.StopError{Stop: stop})
	case s.pace.rested > LongestRest:
		s.stopSending(throttled(s.pace.restUntil))
	}
}

// streaks counts consecutive results, on which the job is stopped or slowed.
type streaks struct {
	unknowns, badForms, noIDs, unreached int
	// refusals of the request since the last acceptance, and the status of the last one
	strange, strangeStatus int
	throttled              map[int64]int // how often each row was answered with 429 in this run
	refusal                string        // reason of the latest refusals
	refusals               int           // consecutive refusals with this reason
	doubts                 int           // of this run
	stalledAt              time.Time     // when the last send window passed
}

// throttled returns the stop of a pass that would only wait.
func throttled(until time.Time) error {
	return &outcome.StopError{Stop: trade.Stop{
		Code: string(outcome.StopThrottled), Why: trade.Say("stop.api_throttled", "until", until), Until: until,
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

// Preflight asks the API something harmless, and returns why no job may send, or nil if they may.
func Preflight(ctx context.Context, platform run.Platform) *trade.Stop {
	stop := func(code outcome.StopCode, why trade.Sentence) *trade.Stop {
		return &trade.Stop{Code: string(code), Why: why, All: true}
	}
	err := platform.Probe(ctx)
	failure, ok := errors.AsType[*apiclient.CallError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return stop(outcome.StopUnreachable, trade.Say("stop.api_unreachable.cause", "cause", err))
	}
	switch a := failure.Answer; {
	case failure.Fault == apiclient.FaultCertificate:
		return stop(outcome.StopCertificate, trade.Say("stop.api_certificate.cause", "cause", failure.Err))
	case a.Status == 0:
		return stop(outcome.StopUnreachable, trade.Say("stop.api_unreachable.cause", "cause", failure.Err))
	case a.Status == http.StatusUnauthorized:
		d := outcome.DecideUnauthorized(a)
		return stop(d.Stop.Code, d.Stop.Why)
	case a.Status == http.StatusForbidden:
		return stop(outcome.StopPermission, trade.Say("stop.api_permission"))
	case a.Status == http.StatusTooManyRequests, a.Status >= http.StatusInternalServerError:
		return stop(outcome.StopUnreachable, trade.Say("stop.api_unreachable.status", "status", a.Status))
	}
	return stop(outcome.StopAddress, trade.Say("stop.api_address.status", "status", failure.Answer.Status))
}

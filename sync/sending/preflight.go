// The preflight: a harmless GET before the first POST.

package sending

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// judgePreflight decides on a failed preflight: either it means nothing for the job's requests
// (ok), or it returns why the job must not begin.
func judgePreflight(failure *apiclient.CallError) (stop trade.Stop, ok bool) {
	a := failure.Answer
	say := func(code outcome.StopCode, why trade.Sentence) (trade.Stop, bool) {
		return trade.Stop{Code: string(code), Why: why, All: true}, false
	}
	switch {
	case failure.Fault == apiclient.FaultCertificate:
		return say(outcome.StopCertificate, trade.Say("stop.api_certificate.cause", "cause", failure.Err))
	case a.Status == 0:
		return say(outcome.StopUnreachable, trade.Say("stop.api_unreachable.cause", "cause", failure.Err))
	case a.Status == http.StatusUnauthorized:
		d := outcome.DecideUnauthorized(a)
		return say(d.Stop.Code, d.Stop.Why)
	case slices.Contains(a.Messages, outcome.KeyNotContract), a.Status == http.StatusNotFound && a.APIForm():
		return trade.Stop{}, true
	case a.Status == http.StatusForbidden:
		return say(outcome.StopPermission, trade.Say("stop.api_permission"))
	case a.Status == http.StatusTooManyRequests, a.Status >= http.StatusInternalServerError:
		return say(outcome.StopUnreachable, trade.Say("stop.api_unreachable.status", "status", a.Status))
	}
	return say(outcome.StopAddress, trade.Say("stop.api_address.status", "status", a.Status))
}

// AskHarmlessly lists the webhooks, and returns why no job may send, or nil if they may. A module
// that is not contracted, or a missing route, means nothing for any job.
func AskHarmlessly(ctx context.Context, platform run.Platform, log *zap.Logger) *trade.Stop {
	_, err := platform.ListWebhooks(ctx)
	var failure *apiclient.CallError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failure):
		return &trade.Stop{
			Code: string(outcome.StopUnreachable),
			Why:  trade.Say("stop.api_unreachable.cause", "cause", err), All: true,
		}
	}
	stop, ok := judgePreflight(failure)
	if ok {
		log.Info(
			"the preflight found a module that is not contracted, or a route that is not there; both say nothing of this job", zap.Int("status", failure.Answer.Status))
		return nil
	}
	return &stop
}

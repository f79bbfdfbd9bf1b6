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

// AskHarmlessly lists the webhooks, and returns why no job may send, or nil if they may. A module
// that is not contracted, or a missing route, means nothing for any job.
func AskHarmlessly(ctx context.Context, platform run.Platform, log *zap.Logger) *trade.Stop {
	stop := func(code outcome.StopCode, why trade.Sentence) *trade.Stop {
		return &trade.Stop{Code: string(code), Why: why, All: true}
	}
	_, err := platform.ListWebhooks(ctx)
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
	case slices.Contains(a.Messages, outcome.KeyNotContract), a.Status == http.StatusNotFound && a.APIForm():
		log.Info(
			"the preflight found a module that is not contracted, or a route that is not there; both say nothing of this job", zap.Int("status", a.Status))
		return nil
	case a.Status == http.StatusForbidden:
		return stop(outcome.StopPermission, trade.Say("stop.api_permission"))
	case a.Status == http.StatusTooManyRequests, a.Status >= http.StatusInternalServerError:
		return stop(outcome.StopUnreachable, trade.Say("stop.api_unreachable.status", "status", a.Status))
	}
	return stop(outcome.StopAddress, trade.Say("stop.api_address.status", "status", failure.Answer.Status))
}

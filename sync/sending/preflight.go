// The preflight: a harmless GET before the first POST.

package sending

import (
	"context"
	"errors"
	"fmt"
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
func judgePreflight(failure *apiclient.Error) (stop trade.Stop, ok bool) {
	a := failure.Answer
	say := func(code outcome.StopCode, text string) (trade.Stop, bool) {
		return trade.Stop{Code: string(code), Text: text, All: true}, false
	}
	switch {
	case failure.Fault == apiclient.FaultCertificate:
		return say(outcome.StopCertificate, "the API's certificate is not accepted: "+a.Evidence.Err)
	case a.Status == 0:
		return say(outcome.StopUnreachable, "the API is not reached: "+a.Evidence.Err+"; nothing was sent")
	case a.Status == http.StatusUnauthorized:
		d := outcome.DecideUnauthorized(a)
		return say(d.Stop.Code, d.Stop.Text)
	case slices.Contains(a.Messages, outcome.KeyNotContract), a.Status == http.StatusNotFound && a.APIForm():
		return trade.Stop{}, true
	case a.Status == http.StatusForbidden:
		return say(outcome.StopPermission, "the API key has no permission (403): ask the platform")
	case a.Status == http.StatusTooManyRequests, a.Status >= http.StatusInternalServerError:
		return say(outcome.StopUnreachable,
			fmt.Sprintf("the API answers %d to a harmless question; nothing was sent", a.Status))
	}
	return say(outcome.StopAddress,
		fmt.Sprintf("the API answers %d to a harmless question: api.base_url or a proxy is wrong; nothing was sent",
			a.Status))
}

// AskHarmlessly lists the webhooks, and returns why no job may send, or nil if they may. A module
// that is not contracted, or a missing route, means nothing for any job.
func AskHarmlessly(ctx context.Context, platform run.Platform, log *zap.Logger) *trade.Stop {
	_, err := platform.ListWebhooks(ctx)
	var failure *apiclient.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failure):
		return &trade.Stop{
			Code: string(outcome.StopUnreachable),
			Text: "the API cannot be asked: " + err.Error(), All: true,
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

// preflight sends one harmless GET to the API before the first POST of a run, so that a wrong key,
// address, proxy or certificate leaves no row in doubt.
func (s *Sender) preflight(ctx context.Context) error {
	stop := AskHarmlessly(ctx, s.Run.Env.Platform, s.Run.Log)
	s.preflown = true
	switch {
	case ctx.Err() != nil:
		return &outcome.StopError{Stop: trade.Stop{
			Code: string(outcome.StopInterrupt),
			Text: "the run was interrupted before anything was sent", All: true,
		}}
	case stop != nil:
		return &outcome.StopError{Stop: *stop}
	}
	return nil
}

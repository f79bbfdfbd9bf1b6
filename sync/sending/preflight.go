// The preflight: a harmless GET before the first POST.

package sending

import (
	"context"
	"errors"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

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

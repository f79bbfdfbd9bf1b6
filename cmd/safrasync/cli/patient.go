package cli

import (
	"context"
	"errors"
	"time"

	"github.com/safrasync/safrasync/apiclient"
)

// PatientReader reads contracts from the platform. After a 429 it waits as long as the platform asks.
type PatientReader struct{ *apiclient.Client }

// throttledTries is how often a contract is requested while the platform answers 429.
const throttledTries = 3

// GetOrderCommitment reads one contract.
func (r PatientReader) GetOrderCommitment(ctx context.Context, id string) (apiclient.OrderCommitment, error) {
	for try := 1; ; try++ {
		out, err := r.Client.GetOrderCommitment(ctx, id)
		var failure *apiclient.Error
		if !errors.As(err, &failure) || failure.Known != apiclient.Throttled || try == throttledTries {
			return out, err
		}
		timer := time.NewTimer(time.Until(failure.ThrottledUntil))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

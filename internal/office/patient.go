package office

import (
	"context"
	"errors"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/acts"
)

// Patient reads contracts from the platform. After a 429 it waits as long as the platform asks.
type Patient struct{ acts.Reader }

// throttledTries is how often a contract is requested while the platform answers 429.
const throttledTries = 3

// GetOrderCommitment reads one contract.
func (r Patient) GetOrderCommitment(ctx context.Context, id string) (apiclient.ReadBack, error) {
	for try := 1; ; try++ {
		out, err := r.Reader.GetOrderCommitment(ctx, id)
		var failure *apiclient.CallError
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

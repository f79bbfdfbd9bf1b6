package cli

import (
	"context"
	"errors"
	"time"

	"github.com/safrasync/safrasync/apiclient"
)

// PacedReader reads contracts from the platform one after the other, no faster than api.rate_limit.
// After a 429 it waits as long as the platform asks.
type PacedReader struct {
	client *apiclient.Client
	every  time.Duration
	next   time.Time
}

// NewPacedReader returns a reader of at most perSecond contracts a second; 0 means no limit.
func NewPacedReader(client *apiclient.Client, perSecond float64) *PacedReader {
	r := &PacedReader{client: client}
	if perSecond > 0 {
		r.every = time.Duration(float64(time.Second) / perSecond)
	}
	return r
}

// throttledTries is how often a contract is requested while the platform answers 429.
const throttledTries = 3

// GetOrderCommitment reads one contract.
func (r *PacedReader) GetOrderCommitment(ctx context.Context, id string) (apiclient.OrderCommitment, error) {
	for try := 1; ; try++ {
		if err := waitUntil(ctx, r.next); err != nil {
			return apiclient.OrderCommitment{}, err
		}
		r.next = time.Now().Add(r.every)
		out, err := r.client.GetOrderCommitment(ctx, id)
		var failure *apiclient.Error
		if !errors.As(err, &failure) || failure.Known != apiclient.Throttled || try == throttledTries {
			return out, err
		}
		if failure.ThrottledUntil.After(r.next) {
			r.next = failure.ThrottledUntil
		}
	}
}

func waitUntil(ctx context.Context, at time.Time) error {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

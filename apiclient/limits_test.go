package apiclient_test

import (
	"context"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
)

// After a 429 whoever sends decides how long it waits; a call that is made all the same goes.
func TestA429HoldsNothingBack(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(429, "", "Retry-After: 3600"))
	c := s.client(t)
	for range 2 {
		a, err := c.SubmitDelivery(context.Background(), payload, nil)
		wantKnown(t, a, err, apiclient.Throttled, apiclient.FaultNone)
	}
	if n := len(s.requests()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

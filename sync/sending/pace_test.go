package sending

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func paced(t *testing.T, limits run.Limits) *Sender {
	t.Helper()
	members := cluster.NewMember(cluster.Config{Clock: clock.SystemClock{}})
	r := &run.Run{Env: &run.Env{Limits: limits, Clock: clock.SystemClock{}, Member: members}}
	c := NewChecker(r)
	s := must.Get(New(r, c, brakes.New(r, c), NewRowLimit(nil, 0),
		&Traffic{Pace: apiclient.NewPace(limits.RateLimit, limits.MaxInFlight)}, nil, nil, trade.JobStatus{}))(t)
	return s
}

// Answers of one moment ask for one rest.
func TestRestsOfOneMomentCountOnce(t *testing.T) {
	t.Parallel()
	s := paced(t, run.Limits{MaxInFlight: 8})
	now := time.Now()
	for i := range 8 {
		s.adjustPace(outcome.Decision{State: trade.Pending, Wait: time.Minute}, now.Add(time.Duration(i)*time.Second))
	}
	if s.pace.rested != 67*time.Second {
		t.Errorf("rested %s, want 1m7s", s.pace.rested)
	}
}

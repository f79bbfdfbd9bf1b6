package sending

import (
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func paced(t *testing.T, limits run.Limits) *Sender {
	t.Helper()
	members := cluster.NewMember(cluster.Config{
		Clock: clock.SystemClock{}, PerSecond: limits.RateLimit,
		Burst: limits.MaxInFlight,
	})
	r := &run.Run{Env: &run.Env{Limits: limits, Clock: clock.SystemClock{}, Member: members}}
	c := NewChecker(r)
	s, err := New(r, c, brakes.New(r, c), NewRowLimit(nil, 0),
		&Traffic{Limiter: (cluster.Config{PerSecond: limits.RateLimit, Burst: limits.MaxInFlight}).Limiter()}, nil, nil,
		trade.JobStatus{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The pace never rises above what is configured, and falls to a part of it however small that is.
func TestThePaceFollows429AndNeverPassesItsLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{0.1, 0.5, 20} {
		s := paced(t, run.Limits{MaxInFlight: 1, RateLimit: limit})
		for range 20 {
			s.adjustPace(outcome.Decision{State: trade.Pending, Wait: time.Second}, time.Now())
			if s.traffic.Limiter.Limit() > rate.Limit(limit) || s.traffic.Limiter.Limit() <= 0 || s.pace.slots != 1 {
				t.Fatalf("limit %v: %v, %d slots", limit, s.traffic.Limiter.Limit(), s.pace.slots)
			}
		}
		for range 200 {
			s.adjustPace(outcome.Decision{State: trade.Accepted}, time.Now())
		}
		if s.traffic.Limiter.Limit() != rate.Limit(limit) {
			t.Errorf("limit %v: %v after many acceptances", limit, s.traffic.Limiter.Limit())
		}
	}
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

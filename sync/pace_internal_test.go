package sync

import (
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/trade"
)

func paced(t *testing.T, limits Limits) *submission {
	t.Helper()
	s, err := newSubmission(&jobRun{Engine: New(Config{Limits: limits, Clock: SystemClock{}})}, &traffic{limiter: limits.limiter()}, trade.JobStatus{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The pace never rises above what is configured, and falls to a part of it however small that is.
func TestThePaceFollows429AndNeverPassesItsLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{0.1, 0.5, 20} {
		s := paced(t, Limits{MaxInFlight: 1, RateLimit: limit})
		for range 20 {
			s.pace(decision{state: trade.Pending, wait: time.Second}, time.Now())
			if s.limiter.Limit() > rate.Limit(limit) || s.limiter.Limit() <= 0 || s.slots != 1 {
				t.Fatalf("limit %v: %v, %d slots", limit, s.limiter.Limit(), s.slots)
			}
		}
		for range 200 {
			s.pace(decision{state: trade.Accepted}, time.Now())
		}
		if s.limiter.Limit() != rate.Limit(limit) {
			t.Errorf("limit %v: %v after many acceptances", limit, s.limiter.Limit())
		}
	}
}

// Answers of one moment ask for one rest.
func TestRestsOfOneMomentCountOnce(t *testing.T) {
	t.Parallel()
	s := paced(t, Limits{MaxInFlight: 8})
	now := time.Now()
	for i := range 8 {
		s.pace(decision{state: trade.Pending, wait: time.Minute}, now.Add(time.Duration(i)*time.Second))
	}
	if s.rested != 67*time.Second {
		t.Errorf("rested %s, want 1m7s", s.rested)
	}
}

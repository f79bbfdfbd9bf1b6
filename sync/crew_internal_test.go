package sync

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// setClock is a clock that stands still until the test moves it.
type setClock struct{ boot time.Duration }

func (c *setClock) Now() time.Time {
	return time.Date(2026, time.March, 10, 8, 0, 0, 0, time.UTC).Add(c.boot)
}
func (c *setClock) Boot() time.Duration { return c.boot }

// The rate limit is for all instances together, and one that joins waits until the others must have seen it.
func TestInstancesShareTheRateLimit(t *testing.T) {
	t.Parallel()
	clock := &setClock{boot: time.Hour}
	c := newCrew(Config{Several: true, Clock: clock, Limits: Limits{RateLimit: 20, MaxInFlight: 8}})
	limiter := c.pace()
	if limiter.Limit() != 20 || c.wait() != 0 {
		t.Errorf("alone: %v a second, after %s", limiter.Limit(), c.wait())
	}
	c.stands(trade.Crew{Living: 2}, clock.boot)
	if limiter.Limit() != 10 || c.full() != 10 || c.wait() != 15*time.Second {
		t.Errorf("having joined another: %v a second, after %s", limiter.Limit(), c.wait())
	}
	clock.boot += 15 * time.Second
	c.stands(trade.Crew{Living: 4}, clock.boot)
	if limiter.Limit() != 5 || c.wait() != 0 {
		t.Errorf("of four: %v a second, after %s", limiter.Limit(), c.wait())
	}
	c.rested()
	if next := c.pace(); next.Limit() != 5 {
		t.Errorf("the next pass: %v a second", next.Limit())
	}
	first := newCrew(Config{Several: true, Clock: clock, Limits: Limits{RateLimit: 20, MaxInFlight: 8}})
	first.stands(trade.Crew{Living: 1}, clock.boot)
	first.stands(trade.Crew{Living: 2}, clock.boot)
	if first.wait() != 0 {
		t.Errorf("one that others join waits %s", first.wait())
	}
}

package cluster

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

// The rate limit is for all instances together, and one that joins waits until the others must have
// seen it.
func TestInstancesShareTheRateLimit(t *testing.T) {
	t.Parallel()
	clock := &setClock{boot: time.Hour}
	c := NewMember(Config{Several: true, Clock: clock, PerSecond: 20, Burst: 8})
	limiter := c.Pace()
	if limiter.Limit() != 20 || c.Wait() != 0 {
		t.Errorf("alone: %v a second, after %s", limiter.Limit(), c.Wait())
	}
	c.setPlace(trade.Instances{Living: 2}, clock.boot)
	if limiter.Limit() != 10 || c.Full() != 10 || c.Wait() != 15*time.Second {
		t.Errorf("having joined another: %v a second, after %s", limiter.Limit(), c.Wait())
	}
	clock.boot += 15 * time.Second
	c.setPlace(trade.Instances{Living: 4}, clock.boot)
	if limiter.Limit() != 5 || c.Wait() != 0 {
		t.Errorf("of four: %v a second, after %s", limiter.Limit(), c.Wait())
	}
	c.Rested()
	if next := c.Pace(); next.Limit() != 5 {
		t.Errorf("the next pass: %v a second", next.Limit())
	}
	first := NewMember(Config{Several: true, Clock: clock, PerSecond: 20, Burst: 8})
	first.setPlace(trade.Instances{Living: 1}, clock.boot)
	first.setPlace(trade.Instances{Living: 2}, clock.boot)
	if first.Wait() != 0 {
		t.Errorf("one that others join waits %s", first.Wait())
	}
}

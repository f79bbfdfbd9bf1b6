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
	clock, among := &setClock{boot: time.Hour}, 1
	config := Config{Several: true, Clock: clock, Limited: true, Share: func(living int) { among = living }}
	c := NewMember(config)
	if c.Wait() != 0 {
		t.Errorf("alone: after %s", c.Wait())
	}
	c.setPlace(trade.Instances{Living: 2}, clock.boot)
	if among != 2 || c.Wait() != 15*time.Second {
		t.Errorf("having joined another: among %d, after %s", among, c.Wait())
	}
	clock.boot += 15 * time.Second
	c.setPlace(trade.Instances{Living: 4}, clock.boot)
	if among != 4 || c.Wait() != 0 {
		t.Errorf("of four: among %d, after %s", among, c.Wait())
	}
	first := NewMember(config)
	first.setPlace(trade.Instances{Living: 1}, clock.boot)
	first.setPlace(trade.Instances{Living: 2}, clock.boot)
	if first.Wait() != 0 {
		t.Errorf("one that others join waits %s", first.Wait())
	}
}

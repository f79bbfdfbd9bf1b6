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
	c.stands(trade.Crew{Living: 2, Rank: 1}, clock.boot)
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

// I11: a pass and what a hand still has on the wire are together no more than max_in_flight.
func TestAPassLeavesRoomForWhatAHandHasOnTheWire(t *testing.T) {
	t.Parallel()
	c := newCrew(Config{Clock: &setClock{}, Limits: Limits{MaxInFlight: 4}})
	for _, attempt := range []string{"a", "b", "c"} {
		c.departs(attempt)
	}
	landed := []func(){c.occupies(), c.occupies()}
	if c.most(false) != 2 || c.most(true) != 4 {
		t.Errorf("a pass may have %d, a hand %d", c.most(false), c.most(true))
	}
	for _, landed := range landed {
		landed()
	}
	c.arrived("a", "c", "unknown")
	c.lost("contracts", "b")
	if c.most(false) != 4 || len(c.aloft()) != 0 || !c.hasLeft("contracts") || c.hasLeft("deliveries") {
		t.Errorf("afterwards a pass may have %d, %v is on the wire", c.most(false), c.aloft())
	}
}

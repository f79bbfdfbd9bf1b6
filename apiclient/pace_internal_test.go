package apiclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

// The clock of these tests is synctest's: it stands still until everybody waits.

// call makes one call that is answered with a status, and returns how long it waited for its turn.
func (c *Client) call(t *testing.T, status int) time.Duration {
	t.Helper()
	before := time.Now()
	if err := c.waitTurn(t.Context()); err != nil {
		t.Fatal(err)
	}
	waited := time.Since(before)
	c.pace.observe(c.pace.begun(), status)
	return waited
}

func TestWithoutALimitNothingWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Client{pace: NewPace(0, 0)}
		for range 1000 {
			if w := c.call(t, 429); w != 0 || !c.pace.Allow(time.Now()) || c.pace.Delay() != 0 {
				t.Fatalf("waited %v", w)
			}
		}
	})
}

func TestTheRateIsKeptHalvedByA429AndRegained(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		synctest.Test(t, func(t *testing.T) {
			c := &Client{pace: NewPace(20, 1)}
			c.call(t, 200)
			for range 5 {
				if w := c.call(t, 201); w != 50*time.Millisecond {
					t.Fatalf("waited %v at 20 a second, want 50ms", w)
				}
			}
			c.call(t, status)
			if w := c.call(t, 0); w != 100*time.Millisecond {
				t.Errorf("waited %v after %d, want half the rate", w, status)
			}
			for range speedUpSteps {
				c.call(t, 400) // a refusal is a good answer: the platform has time for us
			}
			if got := c.pace.Limit(); got != 20 {
				t.Errorf("the rate is %v after %d good answers, want 20", got, speedUpSteps)
			}
		})
	}
}

// The rate never rises above what is configured, and falls to a part of it however small that is.
func TestTheRateNeverFallsToNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []rate.Limit{0.1, 0.5, 64} {
			c := &Client{pace: NewPace(float64(limit), 8)}
			for range 50 {
				c.call(t, 503)
			}
			if got := c.pace.Limit(); got != limit/slowest {
				t.Errorf("rate %v, want %v", got, limit/slowest)
			}
			for range 100 {
				c.call(t, 200)
			}
			if got := c.pace.Limit(); got != limit {
				t.Errorf("rate %v, want %v", got, limit)
			}
		}
	})
}

func TestCallsThatWereInFlightTogetherCutThePaceOnce(t *testing.T) {
	t.Parallel()
	p := NewPace(8, 8)
	epoch := p.begun()
	for range 6 {
		p.observe(epoch, 429)
	}
	p.observe(epoch, 200) // from before the cut: says nothing about the new pace
	if p.Limit() != 4 {
		t.Errorf("%v a second, want 4", p.Limit())
	}
}

func TestInstancesShareTheRate(t *testing.T) {
	t.Parallel()
	p := NewPace(20, 8)
	for living, want := range map[int]rate.Limit{1: 20, 2: 10, 4: 5, 0: 20} {
		p.Share(living)
		if p.Limit() != want {
			t.Errorf("of %d instances: %v a second, want %v", living, p.Limit(), want)
		}
	}
	free := NewPace(0, 8)
	free.Share(2)
	if free.Limit() != rate.Inf {
		t.Errorf("without a limit: %v a second", free.Limit())
	}
}

// A wait ends with its caller, at once where it would outlast the caller's deadline, or with the
// client; the turn of a caller that gave up is not lost.
func TestAWaitEndsWithTheCallerTheDeadlineOrTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		c := &Client{pace: NewPace(1, 1), closing: closing}
		c.call(t, 200)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.waitTurn(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that gave up: %v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := c.waitTurn(short); !errors.Is(err, errTooLate) {
			t.Errorf("a deadline before its turn: %v", err)
		}
		if w := c.call(t, 200); w != time.Second {
			t.Errorf("the next caller waited %v, want 1s", w)
		}
		go func() { ended <- c.waitTurn(t.Context()) }()
		synctest.Wait()
		close(closing)
		if err := <-ended; !errors.Is(err, errClosed) {
			t.Errorf("a client that is closed: %v", err)
		}
	})
}

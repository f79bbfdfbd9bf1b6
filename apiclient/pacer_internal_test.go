package apiclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/must"
)

// The clock of these tests is synctest's: it stands still until everybody waits.

func answered(status int, wait time.Duration) result {
	return result{Answer: Answer{Status: status}, askedWait: wait}
}

// enterAfter makes one call and returns how long it had to wait.
func enterAfter(t *testing.T, p *pacer, status int, wait time.Duration) time.Duration {
	t.Helper()
	before := time.Now()
	ticket := must.Get(p.enter(t.Context()))(t)
	waited := time.Since(before)
	p.leave(ticket, answered(status, wait))
	return waited
}

func TestWithoutLimitsThePacerDoesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(0, 0, nil)
		for range 1000 {
			if w := enterAfter(t, p, 429, time.Hour); w != 0 {
				t.Fatalf("waited %v", w)
			}
		}
	})
}

func TestTheRateIsKeptHalvedByA429AndRegained(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		synctest.Test(t, func(t *testing.T) {
			p := newPacer(20, 0, nil)
			enterAfter(t, p, 200, 0)
			for range 5 {
				if w := enterAfter(t, p, 201, 0); w != 50*time.Millisecond {
					t.Fatalf("waited %v at 20 a second, want 50ms", w)
				}
			}
			enterAfter(t, p, status, 7*time.Second)
			if w := enterAfter(t, p, 0, 0); w != 7*time.Second {
				t.Errorf("waited %v after %d, want the 7s that were asked for", w, status)
			}
			if w := enterAfter(t, p, 0, 0); w != 100*time.Millisecond {
				t.Errorf("waited %v after %d, want half the rate", w, status)
			}
			for range speedUpSteps {
				enterAfter(t, p, 400, 0) // a refusal is a good answer: the platform has time for us
			}
			if got := p.tokens.Limit(); got != 20 {
				t.Errorf("the rate is %v after %d good answers, want 20", got, speedUpSteps)
			}
		})
	}
}

func TestTheRateNeverFallsToNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(64, 8, nil)
		for range 50 {
			enterAfter(t, p, 503, 0)
		}
		if p.tokens.Limit() != 1 || p.allowed != 1 {
			t.Errorf("rate %v, slots %d; want 1 and 1", p.tokens.Limit(), p.allowed)
		}
		for range 100 {
			enterAfter(t, p, 200, 0)
		}
		if p.tokens.Limit() != 64 || p.allowed != 8 {
			t.Errorf("rate %v, slots %d; want 64 and 8", p.tokens.Limit(), p.allowed)
		}
	})
}

func TestCallsThatWereOnTheirWayTogetherCutThePaceOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(0, 8, nil)
		var tickets []ticket
		for range 8 {
			tickets = append(tickets, must.Get(p.enter(t.Context()))(t))
		}
		for _, ticket := range tickets[:6] {
			p.leave(ticket, answered(429, 0))
		}
		for _, ticket := range tickets[6:] {
			p.leave(ticket, answered(200, 0)) // from before the cut: says nothing about the new pace
		}
		if p.allowed != 4 || p.inFlight != 0 || p.good != 0 {
			t.Errorf("allowed %d, in flight %d, good %d; want 4, 0, 0", p.allowed, p.inFlight, p.good)
		}
	})
}

func TestSlotsAreGivenInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(0, 2, nil)
		var first [2]ticket
		for i := range first {
			first[i], _ = p.enter(t.Context())
		}
		order := make(chan int, 3)
		for i := range 3 {
			go func() {
				ticket, err := p.enter(t.Context())
				if err != nil {
					t.Error(err)
				}
				order <- i
				p.leave(ticket, answered(200, 0))
			}()
			synctest.Wait()
		}
		if len(order) != 0 || p.inFlight != 2 {
			t.Fatalf("%d entered beside 2 in flight of 2", len(order))
		}
		p.leave(first[0], answered(200, 0)) // one slot goes through all hands
		for want := range 3 {
			if got := <-order; got != want {
				t.Errorf("caller %d came before %d", got, want)
			}
		}
		p.leave(first[1], answered(200, 0))
		synctest.Wait()
		if p.inFlight != 0 {
			t.Errorf("%d in flight, want none", p.inFlight)
		}
	})
}

func TestAWaitEndsWithTheCallerTheDeadlineOrTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		p := newPacer(1000, 1, closing)
		held := must.Get(p.enter(t.Context()))(t)
		wait := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() { _, err := p.enter(ctx); done <- err }()
			synctest.Wait()
			return done
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := wait(ctx)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("enter without a slot, cancelled = %v", err)
		}
		p.leave(held, answered(429, time.Hour))

		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		before := time.Now()
		if _, err := p.enter(short); !errors.Is(err, errTooLate) || time.Since(before) != 0 {
			t.Errorf("enter with too short a deadline = %v after %v, want errTooLate at once", err, time.Since(before))
		}
		ctx, cancel = context.WithCancel(t.Context())
		done = wait(ctx)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("enter during a hold, cancelled = %v", err)
		}
		done = wait(t.Context()) // waits for the hour
		second := wait(t.Context())
		close(closing)
		for _, d := range []chan error{done, second} {
			if err := <-d; !errors.Is(err, errClosed) {
				t.Errorf("enter of a closed client = %v", err)
			}
		}
		if p.inFlight != 0 || len(p.queue) != 0 {
			t.Errorf("%d in flight, %d waiting; want none", p.inFlight, len(p.queue))
		}
	})
}

// A slot that is handed over in the moment in which its caller gives up goes to the next one.
func TestNoSlotIsLostWhenTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	for range 200 {
		p := newPacer(0, 1, nil)
		held := must.Get(p.enter(t.Context()))(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if ticket, err := p.enter(ctx); err == nil {
				p.leave(ticket, answered(200, 0))
			}
		}()
		go cancel()
		p.leave(held, answered(200, 0))
		<-done
		if p.inFlight != 0 || len(p.queue) != 0 {
			t.Fatalf("%d in flight, %d waiting; want none", p.inFlight, len(p.queue))
		}
	}
}

func TestAHoldThatIsPutOffWhileACallWaitsForItsTokenCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(rate.Limit(1), 0, nil)
		first := must.Get(p.enter(t.Context()))(t)
		before := time.Now()
		done := make(chan time.Duration, 1)
		go func() {
			if _, err := p.enter(t.Context()); err != nil {
				t.Error(err)
			}
			done <- time.Since(before)
		}()
		synctest.Wait() // it waits for its token, a second
		p.leave(first, answered(429, 10*time.Second))
		if got := <-done; got != 10*time.Second {
			t.Errorf("waited %v, want 10s", got)
		}
	})
}

func TestATokenOfACallerThatGaveUpIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(1, 0, nil)
		enterAfter(t, p, 200, 0)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := p.enter(ctx); done <- err }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("enter = %v", err)
		}
		if w := enterAfter(t, p, 200, 0); w != time.Second {
			t.Errorf("waited %v, want the second that the other one would have waited", w)
		}
	})
}

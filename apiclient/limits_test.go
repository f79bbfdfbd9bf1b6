package apiclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
)

func TestTheInFlightLimitIsSharedByAllCalls(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	s := startRaw(t, func(c net.Conn, r received) bool {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		body := created
		if r.Method == "GET" {
			body = `[]`
		}
		_, err := io.WriteString(c, reply(200, body))
		return err == nil
	})
	c := newClient(t, apiclient.Options{BaseURL: s.url(), MaxInFlight: 1})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = c.ListWebhooks(context.Background())
			} else {
				_, err = c.SubmitDelivery(context.Background(), payload, nil)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d requests at once, want 1", most.Load())
	}
}

// The gate that checks a send window is asked after the wait for a slot, never before it.
func TestACallWaitsForItsSlotBeforeTheGateIsAsked(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	arrived := make(chan struct{}, 2)
	s := startRaw(t, func(c net.Conn, _ received) bool {
		arrived <- struct{}{}
		<-release
		_, err := io.WriteString(c, reply(201, created))
		return err == nil
	})
	c := newClient(t, apiclient.Options{BaseURL: s.url(), MaxInFlight: 1})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.SubmitDelivery(context.Background(), payload, nil) })
	<-arrived
	var released atomic.Bool
	wg.Go(func() {
		a, err := c.SubmitDelivery(context.Background(), payload, func() error {
			if !released.Load() {
				t.Error("the gate was asked while the slot was taken")
			}
			return errors.New("the send window is over")
		})
		wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultWindow)
	})
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		a, err := c.SubmitDelivery(ctx, payload,
			func() error { t.Error("the gate of a cancelled call was asked"); return nil })
		wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCanceled)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "while the call waited for its turn") {
			t.Errorf("error = %v", err)
		}
		released.Store(true)
		close(release)
	})
	cancel()
	wg.Wait()
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestAfterA429NothingLeavesBeforeItsTime(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(429, "", "Retry-After: 3600"))
	c := newClient(t, apiclient.Options{BaseURL: s.url(), RateLimit: 1000})
	before := time.Now()
	a, err := c.SubmitDelivery(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.Throttled, apiclient.FaultNone)
	if a.RetryAfter != time.Hour || a.ThrottledUntil.Before(before.Add(time.Hour)) ||
		a.ThrottledUntil.After(time.Now().Add(time.Hour)) {
		t.Errorf("RetryAfter = %v, ThrottledUntil = %v", a.RetryAfter, a.ThrottledUntil)
	}
	if asError(t, err).ThrottledUntil != a.ThrottledUntil {
		t.Error("the error has another time")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a, err = c.SubmitDelivery(ctx, payload, func() error { t.Error("the gate was asked"); return nil })
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultTimeout)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, err := c.SubmitDelivery(context.Background(), payload, nil)
		wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCanceled)
	}()
	c.Close() // whether the call already waits or only begins: it ends, unsent
	<-done
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestWithoutLimitsA429HoldsNothingBack(t *testing.T) {
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

func TestARepeatedReadWaitsAsLongAsA503Asks(t *testing.T) {
	t.Parallel()
	s := startRaw(t, thenAnswer(1, always(503, "", "Retry-After: 60"), reply(200, `[]`)))
	c := s.client(t)
	if _, err := c.ListWebhooks(context.Background()); err == nil {
		t.Error("a minute was waited for, or not at all")
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1: a minute is too long for somebody who waits", n)
	}
}

func TestLimitsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	var zero float64
	for name, o := range map[string]apiclient.Options{
		"api.rate_limit":    {RateLimit: -1},
		"api.rate_limit: ":  {RateLimit: zero / zero},
		"api.rate_limit: m": {RateLimit: 1 / zero},
		"api.max_in_flight": {MaxInFlight: -1},
	} {
		o.BaseURL, o.APIKey = "https://a.example", testKey
		if _, err := apiclient.New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New = %v, want %s named", err, name)
		}
	}
}

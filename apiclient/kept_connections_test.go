package apiclient_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
)

// The second copy of a refusal meets no other request: its connection is closed, whatever the
// answer was.
func TestALateCopyOfARefusalIsNotTakenForTheNextAnswer(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		reply(400, `{"messages":["message.price.invalid"]}`), reply(400, ""), reply(404, `{"detail":"x"}`),
		reply(409, `{}`), reply(429, ""), reply(500, ""),
		reply(503, `x`), reply(307, "", "Location: /x"),
	} {
		var made atomic.Int64
		// What comes later on a connection is answered with a second copy of its first answer, before
		// the request was looked at, as a proxy does that sends an answer twice.
		s := startRaw(t, func(c net.Conn, r received) bool {
			if r.conn > 1 {
				return writes(c, reply(201, fmt.Sprintf(`{"id":"0b8f8a4e-3c58-4e0f-9f5c-%012d"}`, made.Add(1))))
			}
			if r.nth > 1 {
				made.Add(1) // it is created, and the late copy goes in place of its answer
			}
			return writes(c, refusal)
		})
		c := s.client(t)
		first, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
		if err == nil || first.Known == apiclient.Created {
			t.Fatalf("%q: %v", refusal, first.Known)
		}
		second, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
		if err != nil || second.Known != apiclient.Created || made.Load() != 1 || s.conns.Load() != 2 {
			t.Errorf("%q: then %v, %v; %d created on %d connections", refusal[:14], second.Known, err, made.Load(),
				s.conns.Load())
		}
	}
}

// The same for a harmless question, and for an answer of success that was cut.
func TestNoConnectionIsKeptButAfterACompleteSuccess(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, r received) bool {
		text := reply(201, created)
		switch {
		case r.Method == "GET":
			text = reply(404, `{"messages":["message.x.not-found"]}`)
		case len(r.body) > len(payload):
			text = reply(201, created+strings.Repeat(" ", 2<<20)) // more than is read
		}
		_, err := io.WriteString(c, text)
		return err == nil
	})
	c := s.client(t)
	post := func(body string, reused bool) {
		t.Helper()
		a, _ := c.SubmitOrderCommitment(context.Background(), []byte(body), nil)
		if a.Status != 201 || a.Evidence.ReusedConn != reused {
			t.Errorf("status %d, on a kept connection: %t; want %t", a.Status, a.Evidence.ReusedConn, reused)
		}
	}
	post(string(payload), false)
	post(string(payload), true)
	if _, err := c.GetOrderCommitment(context.Background(), testID); err == nil {
		t.Error("the question was answered")
	}
	post(string(payload), false)
	post(string(payload)+strings.Repeat(" ", 9), true)
	post(string(payload), false)
}

// A server that gives up kept connections without a word: each POST that finds one idle for too
// long takes another.
func TestAConnectionThatWasIdleForTooLongCarriesNoPOST(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	s := startRaw(t, func(c net.Conn, r received) bool {
		if r.nth > 1 { // it was given up: what comes on it leads nowhere
			_, _ = io.Copy(io.Discard, c)
			return false
		}
		_, err := io.WriteString(c, reply(201, fmt.Sprintf(`{"id":"0b8f8a4e-3c58-4e0f-9f5c-%012d"}`, made.Add(1))))
		return err == nil
	})
	c := s.client(t)
	apiclient.SetIdleMost(c, time.Nanosecond)
	for i := range 50 {
		a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
		if err != nil || a.Known != apiclient.Created {
			t.Fatalf("POST %d: %v, %v", i, a.Known, err)
		}
	}
	if made.Load() != 50 || len(s.requests()) != 50 {
		t.Errorf("%d were created by %d requests", made.Load(), len(s.requests()))
	}
}

// An id that the request itself names is that of its wallet, its producer or its contract: what was
// created has another, which nobody knows.
func TestAnIDThatTheRequestNamedIsNotTheRecords(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*apiclient.Client) (apiclient.Answer, error){
		"in the body": func(c *apiclient.Client) (apiclient.Answer, error) {
			return c.SubmitOrderCommitment(context.Background(),
				[]byte(`{"wallet_id":"`+strings.ToUpper(testID)+`"}`), nil)
		},
		"in the path": func(c *apiclient.Client) (apiclient.Answer, error) {
			return c.SubmitTraceability(context.Background(), testID, payload, nil)
		},
		"of a delivery": func(c *apiclient.Client) (apiclient.Answer, error) {
			return c.SubmitDelivery(context.Background(), []byte(`{"contract_id":"`+testID+`"}`), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, id := range []string{testID, strings.ToUpper(testID)} {
				s := startRaw(t, always(201, `{"id":"`+id+`"}`))
				a, err := call(s.client(t))
				wantKnown(t, a, err, apiclient.CreatedIDUnknown, apiclient.FaultNone)
				if !strings.Contains(err.Error(), "the request itself named") {
					t.Errorf("%v", err)
				}
			}
		})
	}
	// An id that is no UUID may stand in any request.
	a, err := newClient(t,
		apiclient.Settings{BaseURL: startRaw(t, always(201, `{"id":"1"}`)).url()}).SubmitDelivery(context.Background(),
		payload, nil)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
}

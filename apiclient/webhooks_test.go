package apiclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

func TestWebhooksAreListedAsReceived(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]json.RawMessage{
		`[]`: {},
		"\xef\xbb\xbf[ {\"id\":\"a\",\"x\":1.50} , {} ]\n": {
			json.RawMessage(`{"id":"a","x":1.50}`),
			json.RawMessage(`{}`),
		},
	} {
		s := startRaw(t, always(200, body))
		got := must.Get(s.client(t).ListWebhooks(context.Background()))(t)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("ListWebhooks (-want +got):\n%s", d)
		}
		r := s.requests()[0]
		if r.Method != "GET" || r.URL.Path != hooksPath || len(r.body) != 0 {
			t.Errorf("request = %s %s with %d bytes", r.Method, r.URL.Path, len(r.body))
		}
	}
}

func TestThePreflightTellsAPageFromAList(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`<html>login</html>`, `{}`, `null`, ``, `"x"`, `[`, `OK`} {
		s := startRaw(t, always(200, body))
		list, err := s.client(t).ListWebhooks(context.Background())
		if e := asError(t, err); e.Fault != apiclient.FaultProtocol || e.Status != 200 || list != nil {
			t.Errorf("%q: %v, %v", body, list, err)
		}
	}
}

// flaky fails the first n requests with fail and then answers with a list.
func flaky(n int, fail answerFunc) answerFunc { return thenAnswer(n, fail, reply(200, `[]`)) }

// thenAnswer fails the first n requests with fail and then answers with text.
func thenAnswer(n int, fail answerFunc, text string) answerFunc {
	left := make(chan struct{}, n)
	for range n {
		left <- struct{}{}
	}
	return func(c net.Conn, r received) bool {
		select {
		case <-left:
			return fail(c, r)
		default:
			_, err := io.WriteString(c, text)
			return err == nil
		}
	}
}

func TestAGetIsRepeatedAFewTimes(t *testing.T) {
	t.Parallel()
	failures := map[string]answerFunc{
		"connection lost": func(net.Conn, received) bool { return false },
		"500":             always(500, ""),
		"502":             always(502, `{"messages":["message.integration.connection.refused"]}`),
		"503":             always(503, ""),
		"429":             always(429, "", "Retry-After: 1"),
		"cut":             raw("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n["),
	}
	for name, fail := range failures {
		for n, wantRequests := range map[int]int{1: 2, 2: 3, 3: 3} {
			if name == "429" && n > 1 {
				continue // each waits a second
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := startRaw(t, flaky(n, fail))
				c := s.client(t)
				c.SetReadBackoff(time.Millisecond)
				_, err := c.ListWebhooks(context.Background())
				if (err == nil) != (n < 3) {
					t.Errorf("after %d failures: %v", n, err)
				}
				if got := len(s.requests()); got != wantRequests {
					t.Errorf("after %d failures: %d requests, want %d", n, got, wantRequests)
				}
			})
		}
	}
}

func TestAGetIsNotRepeatedWhereItCannotHelp(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]answerFunc{
		"429 with a long wait": always(429, "", "Retry-After: 60"),
		"503 with a long wait": always(503, "", "Retry-After: 60"),
		"501":                  always(501, ""),
		"400":                  always(400, ""),
		"redirect":             always(307, "", "Location: /"),
	} {
		s := startRaw(t, flaky(1, fail))
		if _, err := s.client(t).ListWebhooks(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := len(s.requests()); n != 1 {
			t.Errorf("%s: %d requests, want 1", name, n)
		}
	}
}

func TestCancellationEndsTheRepetitionOfAGet(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := startRaw(t, func(c net.Conn, _ received) bool {
		_, _ = io.WriteString(c, reply(429, "", "Retry-After: 4"))
		cancel()
		return true
	})
	_, err := s.client(t).ListWebhooks(ctx)
	if err == nil {
		t.Error("no error")
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// The preflight's connection serves the first POST: no second handshake, and no unsent request
// either.
func TestThePostAfterThePreflightReusesItsConnection(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, r received) bool {
		body := `[]`
		if r.Method == "POST" {
			body = created
		}
		_, err := io.WriteString(c, reply(200, body))
		return err == nil
	})
	c := s.client(t)
	must.Get(c.ListWebhooks(context.Background()))(t)
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if !a.Evidence.ReusedConn {
		t.Error("the connection was not reused")
	}
}

func TestConcurrentCallsEachGetTheirOwnAnswer(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, r received) bool {
		_, err := io.WriteString(c, reply(201, `{"id":"`+testID[:34]+string(r.body)+`"}`))
		return err == nil
	})
	c := newClient(t, apiclient.Settings{BaseURL: s.url(), MaxConns: 4})
	const calls = 200
	results := make(chan error, calls)
	slots := make(chan struct{}, 8)
	for i := range calls {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			number := fmt.Sprintf("%02x", i)
			a, err := c.SubmitOrderCommitment(context.Background(), []byte(number), nil)
			if err == nil && a.ID != testID[:34]+number {
				t.Errorf("call %s got the id %s", number, a.ID)
			}
			results <- err
		}()
	}
	for range calls {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := len(s.requests()); n != calls {
		t.Errorf("%d calls led to %d requests", calls, n)
	}
}

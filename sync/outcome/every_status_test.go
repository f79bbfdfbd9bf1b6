package outcome

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	gosync "sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

const goldenID = "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a"

// goldenBodies are the bodies that meet every status, by the names that testdata/outcomes.txt uses.
var goldenBodies = []struct{ name, text string }{
	{"id", `{"id":"` + goldenID + `"}`},
	{"no-id", `{"ok":true}`},
	{"empty-id", `{"id":""}`},
	{"two-ids", `{"id":"` + goldenID + `","id":"` + goldenID + `"}`},
	{"id-in-list", `[{"id":"` + goldenID + `"}]`},
	{"empty", ``},
	{"html", `<html><body>Login</body></html>`},
	{"gateway", `{"data":[],"error":{"text":"no"}}`},
	{"module", `{"messages":["message.module.not-contracted"]}`},
	{"duplicate", `{"messages":["message.duplicate.key"]}`},
	{"duplicate+key", `{"messages":["message.amount.invalid","message.duplicate.key"]}`},
	{"malformed", `{"messages":["message.malformed-request"]}`},
	{"prerequisite", `{"messages":["message.wallet.not-found"]}`},
	{"not-linked", `{"messages":["message.wallet.producer-not-linked"]}`},
	{"key", `{"messages":["message.amount.invalid"]}`},
	{"key+prerequisite", `{"messages":["message.wallet.not-found","message.price.mandatory"]}`},
	{"refused", `{"messages":["message.integration.connection.refused"]}`},
	{"refused+key", `{"messages":["message.integration.connection.refused","message.amount.invalid"]}`},
	{"formB", `{"timestamp":"2026-11-21T09:00:00Z","status":400,"error":"Bad Request","message":"message.id.invalid"}`},
	{"unexpected", `Unexpected value: X`},
	{"text", `no healthy upstream`},
	{"raw", `{"detail":"limit"}`},
	{"odd-messages", `{"messages":[{}]}`},
	{"cut-json", `{"messages":["message.duplicate.key"`},
}

// golden is the table: what each status with each body means.
type golden []goldenLine

type goldenLine struct {
	from, to int
	bodies   []string // nil: every one
	outcome  string
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/outcomes.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, b := range goldenBodies {
		known[b.name] = true
	}
	var out golden
	for i, line := range strings.Split(string(data), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) < 3 {
			t.Fatalf("testdata/outcomes.txt:%d: want statuses, bodies and an outcome", i+1)
		}
		var bodies []string
		if f[1] != "*" {
			bodies = strings.Split(f[1], ",")
		}
		for _, b := range bodies {
			if !known[b] {
				t.Fatalf("testdata/outcomes.txt:%d: no body is named %q", i+1, b)
			}
		}
		for _, span := range strings.Split(f[0], ",") {
			first, last, isSpan := strings.Cut(span, "-")
			if !isSpan {
				last = first
			}
			from, err1 := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatalf("testdata/outcomes.txt:%d: %v", i+1, err)
			}
			out = append(out, goldenLine{from, to, bodies, strings.Join(f[2:], " ")})
		}
	}
	return out
}

func (g golden) of(t *testing.T, status int, body string) string {
	t.Helper()
	for _, l := range g {
		if status >= l.from && status <= l.to && (l.bodies == nil || slices.Contains(l.bodies, body)) {
			return l.outcome
		}
	}
	t.Fatalf("testdata/outcomes.txt has no line for %d %s", status, body)
	return ""
}

// words tells a decision as the table does.
func words(d Decision) string {
	stop := ""
	if d.Stop != nil {
		stop = map[reach]string{ThisJob: "stop ", SameSends: "stop-kind ", AllJobs: "stop-all "}[d.Stop.Reach] +
			string(d.Stop.Code)
	}
	strange := ""
	if d.Strange {
		strange = "strange"
	}
	switch {
	case d.State == trade.Accepted && d.Outcome == trade.OutcomeCreated:
		return "created"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown && d.NoID:
		return "doubt no-id"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown && d.Slow:
		return "doubt slow"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown && d.Ask:
		return "doubt ask"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown:
		return strings.TrimSpace("doubt " + stop)
	case d.Outcome != trade.OutcomeNotCreated:
		return fmt.Sprintf("%s with outcome %s", d.State, d.Outcome)
	case d.State == trade.Pending && d.Stop != nil && !d.Counts:
		return stop
	case d.State == trade.Pending && d.Wait > 0:
		return "wait"
	case d.State == trade.Pending && d.Retry == RetrySoon:
		return "auto"
	case d.State == trade.Held && d.Cause == trade.CauseExists:
		return "held"
	case d.State == trade.Rejected && d.Retry == RetryLater:
		return "pre"
	case d.State == trade.Rejected && d.Weak:
		return "release"
	case d.State == trade.Rejected && d.BadForm:
		return strings.TrimSpace("mapping " + strange)
	case d.State == trade.Rejected && d.Retry == RetryNone:
		return strings.TrimSpace("fix " + strange)
	}
	return fmt.Sprintf("%+v", d)
}

// goldenServer answers every request with the status and body that its test has set, and counts the
// creating POSTs.
type goldenServer struct {
	mu     gosync.Mutex
	status int
	body   string
	posts  int
}

func (s *goldenServer) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.mu.Lock()
		s.posts++
		// An answer that cannot have a body ends its connection: nothing of the next one is taken
		// for it.
		last := s.status < 200 || s.status == http.StatusNoContent || s.status == http.StatusNotModified
		var out bytes.Buffer
		fmt.Fprintf(&out, "HTTP/1.1 %d X\r\n", s.status)
		if last {
			out.WriteString("Connection: close\r\n\r\n")
		} else {
			fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(s.body), s.body)
		}
		s.mu.Unlock()
		if _, err := out.WriteTo(c); err != nil || last {
			return
		}
	}
}

// F114-F139, I2: every status from 100 to 599 with every body, over real HTTP through the client
// and the engine's decision, at the three endpoints. What is sent again by itself is exactly what
// the table says, and each call makes one POST.
func TestF114EveryStatusWithEveryBodyMeansWhatTheTableSays(t *testing.T) {
	t.Parallel()
	table := readGolden(t)
	body := []byte(`{"amount":1}`)
	for name, submit := range map[string]func(context.Context, *apiclient.Client) (apiclient.Answer, error){
		"order commitment": func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
			return c.SubmitOrderCommitment(ctx, body, nil)
		},
		"delivery": func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
			return c.SubmitDelivery(ctx, body, nil)
		},
		"traceability": func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
			return c.SubmitTraceability(ctx, "e2c4a6d8-1b3f-4a5c-8d7e-9f0b1a2c3d4e", body, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &goldenServer{}
			c := s.start(t)
			calls, resends := 0, map[string]int{}
			for status := 100; status < 600; status++ {
				for _, b := range goldenBodies {
					s.mu.Lock()
					s.status, s.body = status, b.text
					s.mu.Unlock()
					answer, err := submit(t.Context(), c)
					fault := apiclient.FaultNone
					var failure *apiclient.Error
					if errors.As(err, &failure) {
						answer, fault = failure.Answer, failure.Fault
					}
					d := Decide(answer, fault, false)
					calls++
					if got, want := words(d), table.of(t, status, b.name); got != want {
						t.Errorf("%d %s: %s, want %s", status, b.name, got, want)
					}
					if d.State == trade.Pending || d.Retry != RetryNone {
						resends[table.of(t, status, b.name)]++
					}
				}
			}
			for outcome := range resends {
				if kind, _, _ := strings.Cut(outcome,
					" "); !slices.Contains([]string{"auto", "wait", "pre", "stop-all", "stop-kind"}, kind) {
					t.Errorf("%q is sent again by itself", outcome)
				}
			}
			if s.posts != calls {
				t.Errorf("%d calls made %d POSTs", calls, s.posts)
			}
			t.Logf("%d calls, %d POSTs, sent again by itself: %v", calls, s.posts, resends)
		})
	}
}

// start serves until the test ends, and gives a client.
func (s *goldenServer) start(t *testing.T) *apiclient.Client {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg gosync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { s.serve(conn) })
		}
	})
	c, err := apiclient.New(apiclient.Options{BaseURL: "http://" + ln.Addr().String(), APIKey: "a-key-of-the-tests"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); _ = ln.Close(); wg.Wait() })
	return c
}

package outcome

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

const goldenID = "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a"

// goldenBodies are the bodies that meet every status, by the names that testdata/outcomes.txt uses, with the
// message that a refused row has as its cause.
var goldenBodies = []struct{ name, text, cause string }{
	{"id", `{"id":"` + goldenID + `"}`, ""},
	{"no-id", `{"ok":true}`, ""},
	{"empty-id", `{"id":""}`, ""},
	{"two-ids", `{"id":"` + goldenID + `","id":"` + goldenID + `"}`, ""},
	{"id-in-list", `[{"id":"` + goldenID + `"}]`, ""},
	{"empty", ``, ""},
	{"html", `<html><body>Login</body></html>`, ""},
	{"gateway", `{"data":[],"error":{"text":"no"}}`, ""},
	{"module", `{"messages":["message.module.not-contracted"]}`, "message.module.not-contracted"},
	{"duplicate", `{"messages":["message.duplicate.key"]}`, "message.duplicate.key"},
	{"duplicate+key", `{"messages":["message.amount.invalid","message.duplicate.key"]}`, "message.amount.invalid"},
	{"malformed", `{"messages":["message.malformed-request"]}`, "message.malformed-request"},
	{"prerequisite", `{"messages":["message.wallet.not-found"]}`, "message.wallet.not-found"},
	{"not-linked", `{"messages":["message.wallet.producer-not-linked"]}`, "message.wallet.producer-not-linked"},
	{"key", `{"messages":["message.amount.invalid"]}`, "message.amount.invalid"},
	{"key+prerequisite", `{"messages":["message.wallet.not-found","message.price.mandatory"]}`, "message.price.mandatory"},
	{"refused", `{"messages":["message.integration.connection.refused"]}`, "message.integration.connection.refused"},
	{"refused+key", `{"messages":["message.integration.connection.refused","message.amount.invalid"]}`, "message.integration.connection.refused"},
	{"formB", `{"timestamp":"2026-11-21T09:00:00Z","status":400,"error":"Bad Request","message":"message.id.invalid"}`, "message.id.invalid"},
	{"unexpected", `Unexpected value: X`, ""},
	{"text", `no healthy upstream`, ""},
	{"raw", `{"detail":"limit"}`, ""},
	{"odd-messages", `{"messages":[{}]}`, ""},
	{"cut-json", `{"messages":["message.duplicate.key"`, ""},
}

// readGolden reads the table: what each status with each body means; of several lines that name
// both, the first.
func readGolden(t *testing.T) map[string]string {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/outcomes.txt"))(t)
	var known []string
	for _, b := range goldenBodies {
		known = append(known, b.name)
	}
	out := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		bodies := known
		if len(f) > 1 && f[1] != "*" {
			bodies = strings.Split(f[1], ",")
		}
		for _, span := range strings.Split(f[0], ",") {
			var from, to int
			if n, _ := fmt.Sscanf(span, "%d-%d", &from, &to); n == 1 {
				to = from
			}
			strange := func(body string) bool { return !slices.Contains(known, body) }
			if len(f) < 3 || from == 0 || slices.ContainsFunc(bodies, strange) {
				t.Fatalf("testdata/outcomes.txt:%d: want statuses, bodies and an outcome", i+1)
			}
			for status := from; status <= to; status++ {
				for _, body := range bodies {
					at := fmt.Sprint(status, " ", body)
					out[at] = cmp.Or(out[at], strings.Join(f[2:], " "))
				}
			}
		}
	}
	return out
}

// words returns a decision as the table states it.
func words(d Decision) string {
	stop := ""
	if d.Stop != nil {
		stop = map[reach]string{ThisJob: "stop ", SameSends: "stop-kind ", AllJobs: "stop-all "}[d.Stop.Reach] +
			string(d.Stop.Code)
	}
	strange := ""
	if d.RequestRefused {
		strange = "strange"
	}
	switch {
	case d.State == trade.Accepted && d.Outcome == trade.OutcomeCreated:
		return "created"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown && d.NoID:
		return "doubt no-id"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown && d.Slow:
		return "doubt slow"
	case d.State == trade.InDoubt && d.Outcome == trade.OutcomeUnknown && d.ProbeAgain:
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

// F114-F139, I2: every status from 100 to 599 with every body, over real HTTP through the client
// and the engine's decision, at the three endpoints. What is sent again by itself is exactly what
// the table says, and each call makes one POST.
func TestF114EveryStatusWithEveryBodyMeansWhatTheTableSays(t *testing.T) {
	t.Parallel()
	table := readGolden(t)
	body := []byte(`{"amount":1}`)
	for name, submit := range map[string]func(context.Context, *apiclient.Client) (apiclient.Answer, error){
		"order commitment": func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
			return c.Submit(ctx, trade.OrderCommitments, "", body, nil)
		},
		"delivery": func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
			return c.Submit(ctx, trade.Deliveries, "", body, nil)
		},
		"traceability": func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
			return c.Submit(ctx, trade.Traceability, "e2c4a6d8-1b3f-4a5c-8d7e-9f0b1a2c3d4e", body, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status, posts int // the client waits for each answer
			var text string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				posts++
				_, _ = io.Copy(io.Discard, r.Body)
				if status >= 200 {
					w.Header()["Content-Type"] = nil
					w.WriteHeader(status)
					_, _ = io.WriteString(w, text)
				} else if c, _, err := http.NewResponseController(w).Hijack(); err == nil { // else no last answer
					_, _ = fmt.Fprintf(c, "HTTP/1.1 %d X\r\nConnection: close\r\n\r\n", status)
					_ = c.Close()
				}
			}))
			defer server.Close()
			c := must.Get(apiclient.New(apiclient.Settings{BaseURL: server.URL, APIKey: "a-key-of-the-tests"}))(t)
			defer c.Close()
			calls, resends := 0, map[string]int{}
			for status = 100; status < 600; status++ {
				for _, b := range goldenBodies {
					text = b.text
					answer, err := submit(t.Context(), c)
					fault := apiclient.FaultNone
					var failure *apiclient.CallError
					if errors.As(err, &failure) {
						answer, fault = failure.Answer, failure.Fault
					}
					d := Decide(answer, fault, false)
					calls++
					want := table[fmt.Sprint(status, " ", b.name)]
					if got := words(d); got != want {
						t.Errorf("%d %s: %s, want %q", status, b.name, got, want)
					}
					refusal := b.cause
					if b.name == "key+prerequisite" && !slices.Contains([]int{400, 404, 422}, status) {
						refusal = "message.wallet.not-found" // the first: it is the request that is refused
					}
					cause := map[trade.State]string{
						trade.InDoubt: trade.CauseUnknown, trade.Held: trade.CauseExists, trade.Rejected: refusal,
					}[d.State]
					consumes := !strings.HasPrefix(want, "stop") && want != "wait"
					if d.Cause != cause || d.Counts != consumes || d.Reason.Code == "" ||
						d.RequestRefused != strings.HasSuffix(want, "strange") ||
						d.ProbeAgain != (want == "doubt ask") || d.Weak != (want == "release") ||
						!trade.CanMove(trade.Sending, d.State) {
						t.Errorf("%d %s: want cause %q, counts %t: %+v", status, b.name, cause, consumes, d)
					}
					if d.State == trade.Pending || d.Retry != RetryNone {
						resends[want]++
					}
				}
			}
			for outcome := range resends {
				if kind, _, _ := strings.Cut(outcome,
					" "); !slices.Contains([]string{"auto", "wait", "pre", "stop-all", "stop-kind"}, kind) {
					t.Errorf("%q is sent again by itself", outcome)
				}
			}
			if posts != calls {
				t.Errorf("%d calls made %d POSTs", calls, posts)
			}
			t.Logf("%d calls, %d POSTs, sent again by itself: %v", calls, posts, resends)
		})
	}
}

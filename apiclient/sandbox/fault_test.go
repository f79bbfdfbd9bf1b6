package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

func TestF092TheConnectionIsLost(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		created int
		err     error
	}{
		"lost-before":          {0, io.EOF},
		"lost-before,reset":    {0, syscall.ECONNRESET},
		"lost-after":           {1, io.EOF},
		"lost-after,reset":     {1, syscall.ECONNRESET},
		"lost-after,late=1ms":  {1, io.EOF},
		"lost-before,slow=1ms": {0, io.EOF},
	}
	for spec, test := range tests {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{}, spec+"@1")
			if g, err := b.try(b.request("POST", orders, body())); !errors.Is(err, test.err) {
				t.Errorf("POST = %+v, %v; want %v", g, err, test.err)
			}
			records := b.wantCreated(test.created)
			line := b.lines()[0]
			if line.Executed != (test.created == 1) || line.Status != 0 || line.Fault != spec+"@1" {
				t.Errorf("truth log = %+v", line)
			}
			if test.created == 1 && line.ID != records[0].ID {
				t.Errorf("truth log has id %q, want %q", line.ID, records[0].ID)
			}
			if g := b.post(body()); g.status != 201 {
				t.Errorf("second POST = %d", g.status)
			}
		})
	}
}

func TestFaultsThatAnswer(t *testing.T) {
	t.Parallel()
	const gateway = `{"data":[],"error":{"message":"Unauthorized"}}`
	tests := map[string]struct {
		status  int
		body    string // exact; with a leading "~", the body must contain the rest
		created int
	}{
		"status=503":                           {503, "~Service Unavailable", 0},
		"status=503,commit":                    {503, "~Service Unavailable", 1},
		"status=500":                           {500, messages("message.internal.error"), 0},
		"status=500,commit":                    {500, messages("message.internal.error"), 1},
		"status=401":                           {401, gateway, 0},
		"status=401,empty":                     {401, "", 0},
		"status=401,empty,commit":              {401, "", 1},
		"status=403":                           {403, "~cannot consume", 0},
		"status=404":                           {404, messages("message.sandbox.fault"), 0},
		"status=405":                           {405, "~not supported", 0},
		"status=409":                           {409, messages("message.sandbox.fault"), 0},
		"status=415":                           {415, "", 0},
		"status=418":                           {418, "~<html>", 0},
		"status=204,commit":                    {204, "", 1},
		"status=200":                           {200, "{}", 0},
		"status=302":                           {302, "", 0},
		"status=429":                           {429, "~rate limit", 0},
		"status=599":                           {599, "~<html>", 0},
		"status=999":                           {999, "~<html>", 0},
		"module":                               {403, messages("message.module.not-contracted"), 0},
		"throttle=2s":                          {429, "~rate limit", 0},
		"refused":                              {502, messages("message.integration.connection.refused"), 0},
		"refused,commit,slow=1ms":              {502, messages("message.integration.connection.refused"), 1},
		"malformed":                            {400, messages("message.malformed-request"), 0},
		"duplicate":                            {400, messages("message.duplicate.key"), 0},
		"html":                                 {200, "~<form", 0},
		"html,status=201,commit":               {201, "~<form", 1},
		"redirect":                             {307, "", 0},
		"redirect,status=303":                  {303, "", 0},
		"redirect=http://127.0.0.1:9/x,commit": {307, "", 1},
		"noid":                                 {201, "{}", 1},
		"again":                                {201, `~{"id":`, 1}, // nothing to repeat yet
		"twice":                                {201, `~{"id":`, 2},
		"slow=1ms":                             {201, `~{"id":`, 1},
		"late=1ms":                             {201, `~{"id":`, 1},
		"body=":                                {201, "", 1},
		`body={"id":"a","id":"b"}`:             {201, `{"id":"a","id":"b"}`, 1},
		"body=a@b, c%d":                        {201, "a@b, c%d", 1},
		"status=422,body=[1]":                  {422, "[1]", 0},
		`status=201,commit,type=text/x@1-,body={"id":5},body=@9`: {201, `{"id":5},body=@9`, 1},
	}
	for spec, test := range tests {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{}, spec)
			g := b.post(body())
			if g.status != test.status {
				t.Errorf("status = %d, want %d", g.status, test.status)
			}
			if part, ok := strings.CutPrefix(test.body, "~"); ok {
				if !strings.Contains(g.body, part) {
					t.Errorf("body = %s, want %s in it", g.body, part)
				}
			} else if diff := cmp.Diff(test.body, g.body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			b.wantCreated(test.created)
			executed := 0
			for _, line := range b.lines() {
				if line.Status != test.status || line.Fault != spec {
					t.Errorf("truth log = %+v", line)
				}
				if line.Executed {
					executed++
				}
			}
			if executed != test.created {
				t.Errorf("the truth log has %d executions, want %d", executed, test.created)
			}
		})
	}
}

func TestHeadersOfFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, want string }{
		"throttle=90s":                  {"Retry-After", "90"},
		"redirect":                      {"Location", "/login"},
		"redirect=http://127.0.0.1:9/x": {"Location", "http://127.0.0.1:9/x"},
		"status=302":                    {"Location", "/login"},
		"html":                          {"Content-Type", "text/html; charset=utf-8"},
		"status=401,empty":              {"Content-Type", ""},
		"body={}":                       {"Content-Type", "application/json"},
		"body=OK":                       {"Content-Type", "text/plain; charset=utf-8"},
		"status=200,type=a/b,body={}":   {"Content-Type", "a/b"},
	}
	for spec, test := range tests {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{}, spec)
			if got := b.post(body()).header.Get(test.name); got != test.want {
				t.Errorf("%s = %q, want %q", test.name, got, test.want)
			}
		})
	}
}

func TestF108TheBodyIsCut(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]error{"cut": io.ErrUnexpectedEOF, "cut,reset": nil} {
		b := start(t, sandbox.Options{}, spec)
		g, err := b.try(b.request("POST", orders, body()))
		if err == nil || want != nil && (!errors.Is(err, want) || g.status != 201 ||
			!strings.HasPrefix(g.body, `{"id":"`)) {
			t.Errorf("%s: POST = %+v, %v", spec, g, err)
		}
		if json.Valid([]byte(g.body)) {
			t.Errorf("%s: the body is whole: %s", spec, g.body)
		}
		b.wantCreated(1)
	}
}

func TestF139GarbageInsteadOfHTTP(t *testing.T) {
	t.Parallel()
	for spec, created := range map[string]int{"garbage": 0, "garbage,commit": 1} {
		b := start(t, sandbox.Options{}, spec)
		if g, err := b.try(b.request("POST", orders, body())); err == nil ||
			!strings.Contains(err.Error(), "malformed HTTP") {
			t.Errorf("%s: POST = %+v, %v", spec, g, err)
		}
		b.wantCreated(created)
	}
}

func TestF100AnOlderAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "again@2")
	b.post(body())
	g := b.post(body())
	if want := `{"id":"` + b.wantCreated(1)[0].ID + `"}`; g.status != 201 || g.body != want {
		t.Errorf("second POST = %d %s, want %s", g.status, g.body, want)
	}
}

func TestF099TheGatewayExecutesTwice(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "twice")
	g := b.post(body())
	records := b.wantCreated(2)
	if !strings.Contains(g.body, records[0].ID) || records[0].ID == records[1].ID || records[1].N != 1 {
		t.Errorf("answer %s, records %+v", g.body, records)
	}
}

func TestAFaultNeverClaimsSuccessForARefusedRequest(t *testing.T) {
	t.Parallel()
	want := messages("message.payday.mandatory")
	for _, spec := range []string{
		"noid", "body={}", "html,commit", "status=201,commit", "cut@2", "twice",
		"slow=1ms", "again",
	} {
		b := start(t, sandbox.Options{}, spec)
		if g := b.post(body("payday", "")); g.status != 400 || g.body != want {
			t.Errorf("%s: POST = %d %s", spec, g.status, g.body)
		}
		b.wantCreated(0)
	}
	b := start(t, sandbox.Options{}, "status=500,commit")
	if g := b.post(body("payday", "")); g.status != 500 {
		t.Errorf("status=500,commit: POST = %d", g.status)
	}
	b.wantCreated(0)
}

func TestF093ASlowAnswerIsExecutedAlthoughTheClientGivesUp(t *testing.T) {
	t.Parallel()
	executed := make(chan struct{})
	b := start(t, sandbox.Options{OnExecuted: func(int, sandbox.Record) { close(executed) }}, "slow=1h")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-executed
		cancel()
	}()
	if g, err := b.try(b.request("POST", orders, body()).WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("POST = %+v, %v", g, err)
	}
	b.wantCreated(1)
}

func TestF094ALateExecutionHappensAlthoughTheClientIsGone(t *testing.T) {
	t.Parallel()
	arrived, executed := make(chan struct{}), make(chan struct{})
	b := start(t, sandbox.Options{
		OnPost:     func(int) { close(arrived) },
		OnExecuted: func(int, sandbox.Record) { close(executed) },
	}, "late=1h")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if g, err := b.try(b.request("POST", orders, body()).WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("POST = %+v, %v", g, err)
	}
	b.wantCreated(0)
	b.Server.Close() // ends the hour
	<-executed
	b.wantCreated(1)
}

func TestAPostIsHeldOnTheWireUntilTheTestLetsItGo(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan int), make(chan struct{})
	b := start(t, sandbox.Options{OnPost: func(n int) {
		arrived <- n
		<-release
	}})
	answered := make(chan got)
	go func() { answered <- b.post(body()) }()
	if n := <-arrived; n != 1 {
		t.Errorf("number = %d, want 1", n)
	}
	b.wantCreated(0)
	if g := b.get(webhooks); g.status != 200 {
		t.Errorf("a GET meanwhile = %d", g.status)
	}
	close(release)
	if g := <-answered; g.status != 201 {
		t.Errorf("POST = %d", g.status)
	}
	b.wantCreated(1)
}

func TestTheRecordIsLoggedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	seen := make(chan sandbox.Record)
	b := start(t, sandbox.Options{OnExecuted: func(_ int, r sandbox.Record) {
		seen <- r
		<-release
	}})
	answered := make(chan got)
	go func() { answered <- b.post(body()) }()
	rec := <-seen
	lines := b.lines()
	if len(lines) != 1 || !lines[0].Executed || lines[0].ID != rec.ID || lines[0].Status != 201 {
		t.Errorf("truth log before the answer = %+v", lines)
	}
	close(release)
	<-answered
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // of six POSTs, those marked x are disturbed
		"status=503":           "xxxxxx",
		"status=503@1":         "x.....",
		"status=503@3":         "..x...",
		"status=503@5-":        "....xx",
		"status=503@2-4":       ".xxx..",
		"status=503@2-2":       ".x....",
		"status=503%100":       "xxxxxx",
		"status=503@4-%100":    "...xxx",
		"status=503%100@1-2":   "xx....",
		"get:status=503":       "......",
		"status=503@3,body=@1": "..x...",
	}
	for spec, want := range tests {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{}, spec)
			pattern := ""
			for range 6 {
				if g := b.get(webhooks); (g.status == 503) != strings.HasPrefix(spec, "get:") {
					t.Errorf("GET = %d", g.status)
				}
				pattern += map[int]string{201: ".", 503: "x"}[b.post(body()).status]
			}
			if pattern != want {
				t.Errorf("disturbed = %s, want %s", pattern, want)
			}
		})
	}
}

func TestTheFirstMatchingFaultActsAndRefusedPostsAreNumberedToo(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "status=503@2", "status=500@2-3")
	want := []int{400, 503, 500, 201}
	for i, sent := range []string{"{", body(), body(), body()} {
		if g := b.post(sent); g.status != want[i] {
			t.Errorf("POST %d = %d, want %d", i+1, g.status, want[i])
		}
	}
}

func TestFaultsOfGetsAreCountedApart(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "get:status=401,empty@2", "get:lost-before@3")
	b.post(body())
	if g := b.get(webhooks); g.status != 200 {
		t.Errorf("first GET = %d", g.status)
	}
	if g := b.get("/nowhere"); g.status != 404 { // unknown paths are not numbered
		t.Errorf("unknown path = %d", g.status)
	}
	if g := b.get(webhooks); g.status != 401 || g.body != "" {
		t.Errorf("second GET = %d %s", g.status, g.body)
	}
	b.client.CloseIdleConnections() // on a reused connection net/http would repeat the GET
	if _, err := b.try(b.request("GET", webhooks, "")); !errors.Is(err, io.EOF) {
		t.Errorf("third GET: %v", err)
	}
}

func TestASeedGivesTheSameFaults(t *testing.T) {
	t.Parallel()
	run := func(seed int64) string {
		b := start(t, sandbox.Options{Seed: seed}, "status=503%30")
		if b.Seed() != seed {
			t.Errorf("Seed = %d, want %d", b.Seed(), seed)
		}
		pattern := ""
		for range 64 {
			pattern += map[int]string{201: ".", 503: "x"}[b.post(body()).status]
		}
		return pattern
	}
	one, again, two := run(1), run(1), run(2)
	if one != again {
		t.Errorf("seed 1 gave\n%s and\n%s", one, again)
	}
	if one == two {
		t.Errorf("seeds 1 and 2 both gave %s", one)
	}
	if n := strings.Count(one, "x"); n < 8 || n > 32 {
		t.Errorf("%d of 64 disturbed, want about 19", n)
	}
	if b := start(t, sandbox.Options{}); b.Seed() == 0 {
		t.Error("no seed was drawn")
	}
}

func TestInterceptComesBeforeFaultsAndReadsTheBody(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{Intercept: func(r *http.Request, n int) *sandbox.Disturbance {
		sent, err := io.ReadAll(r.Body)
		if err != nil || r.Method != "POST" || !strings.Contains(string(sent), `"MILHO"`) {
			return nil
		}
		return &sandbox.Disturbance{
			Do: sandbox.Reply, Status: 429, Header: http.Header{"Retry-After": {"garbage"}},
			Body: strings.Repeat("x", n),
		}
	}}, "status=503@2")
	if g := b.post(body("product", `"MILHO"`)); g.status != 429 || g.body != "x" ||
		g.header.Get("Retry-After") != "garbage" {
		t.Errorf("first POST = %+v", g)
	}
	if g := b.post(body()); g.status != 503 {
		t.Errorf("second POST = %d", g.status)
	}
	if g := b.post(body()); g.status != 201 {
		t.Errorf("third POST = %d", g.status)
	}
	if lines := b.lines(); lines[0].Fault != "fault" || lines[2].Fault != "" {
		t.Errorf("truth log = %+v", lines)
	}
}

func TestLatencyDelaysTheAnswerOnly(t *testing.T) {
	t.Parallel()
	executed := make(chan struct{})
	b := start(t, sandbox.Options{Latency: time.Hour, OnExecuted: func(int, sandbox.Record) { close(executed) }})
	answered := make(chan got)
	go func() { answered <- b.post(body()) }()
	<-executed
	b.wantCreated(1)
	select {
	case g := <-answered:
		t.Errorf("answered before the latency passed: %d", g.status)
	default:
	}
	b.Server.Close() // ends the hour
	if g := <-answered; g.status != 201 {
		t.Errorf("POST = %d", g.status)
	}
}

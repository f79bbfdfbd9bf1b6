package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// The faults of a rehearsal, on every creating endpoint: what a client sees, and whether the record
// exists.
func TestEveryFaultOnEveryCreatingEndpoint(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status, made int // status 0: no answer
		header       string
	}{
		"lost-after":              {0, 1, ""},
		"lost-before":             {0, 0, ""},
		"lost-before,reset":       {0, 0, ""},
		"slow=1ms":                {201, 1, ""},
		"cut":                     {0, 1, ""},
		"garbled":                 {201, 1, ""},
		"garbage":                 {0, 0, ""},
		"noid":                    {201, 1, ""},
		"status=401":              {401, 0, ""},
		"status=401,empty":        {401, 0, ""},
		"status=403":              {403, 0, ""},
		"module":                  {403, 0, ""},
		"throttle=2s":             {429, 0, "Retry-After: 2"},
		"unavailable=3s":          {503, 0, "Retry-After: 3"},
		"unavailable=3s,commit":   {503, 1, "Retry-After: 3"},
		"status=500":              {500, 0, ""},
		"status=500,commit":       {500, 1, ""},
		"refused":                 {502, 0, ""},
		"redirect":                {307, 0, "Location: /login"},
		"html":                    {200, 0, "Content-Type: text/html; charset=utf-8"},
		"html,commit,status=201":  {201, 1, ""},
		"twice":                   {201, 2, ""},
		`body={"id":"no-uuid"}`:   {201, 1, ""},
		"status=201,body=":        {201, 0, ""},
		"status=408,commit,empty": {408, 1, ""},
	}
	for spec, test := range tests {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
				b := start(t, sandbox.Options{})
				if resource == sandbox.ResourceTraceability {
					b.post(body())
				}
				path := k.path
				if len(b.Created()) > 0 {
					path = strings.ReplaceAll(path, "{commitment}", b.Created()[0].ID)
				}
				if g := b.command("PUT", "/faults", resource+":"+spec); g.status != 200 {
					t.Fatalf("PUT = %d %s", g.status, g.body)
				}
				g, err := b.try(b.request("POST", path, k.with()))
				if (err != nil) != (test.status == 0) || err == nil && g.status != test.status {
					t.Errorf("POST = %d, %v; want %d", g.status, err, test.status)
				}
				if name, value, ok := strings.Cut(test.header, ": "); ok && g.header.Get(name) != value {
					t.Errorf("%s = %q", name, g.header.Get(name))
				}
				made := test.made
				if resource == sandbox.ResourceOrderCommitments {
					b.wantCreated(made)
				}
				b.wantMade(resource, made)
			})
		})
	}
}

func TestEveryFaultOfReads(t *testing.T) {
	t.Parallel()
	paths := map[string]string{
		sandbox.ResourceWebhooks: webhooks, sandbox.ResourceConsent: consent + "?identity=10143486764&personType=PF",
		sandbox.ResourceProducers: lookup + "10143486764", sandbox.ResourceCreditAnalysis: analysis + "/" + someOther,
		sandbox.ResourceOrderCommitments: orders + "/" + someOther,
	}
	for _, spec := range []string{
		"lost-before", "lost-before,reset", "cut", "garbage", "garbled", "status=401", "status=401,empty", "module",
		"throttle=1s", "unavailable=1s",
		"status=500", "refused", "redirect", "html,status=203", "status=200,body=[",
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			for resource, path := range paths {
				healthy := b.get(path)
				f := must.Get(sandbox.ParseFault("get:" + resource + ":" + spec))(t)
				b.SetFaults(f)
				b.client.CloseIdleConnections() // on a reused connection net/http would repeat the GET
				if g, err := b.try(b.request("GET", path, "")); err == nil && g.status == healthy.status &&
					g.body == healthy.body {
					t.Errorf("%s = %d %s: as without the fault", path, g.status, g.body)
				}
				for other, otherPath := range paths {
					if other != resource && strings.Contains(b.get(otherPath).body, "sandbox.fault") {
						t.Errorf("the fault of %s met %s", resource, other)
					}
				}
				b.SetFaults()
			}
		})
	}
}

func TestFaultsOfChanges(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "change:status=500,commit@1", "change:lost-before@2")
	id := b.register("CREATE_FARM", "https://one.example.org/")
	if g := b.call("PUT", webhooks,
		`{"webhook_event":"CREATE_FARM","url":"https://two.example.org/"}`); g.status != 500 {
		t.Errorf("PUT = %d", g.status)
	}
	if w := b.Webhooks()[0]; w.URL != "https://two.example.org/" {
		t.Errorf("not applied: %+v", w)
	}
	b.client.CloseIdleConnections()
	req := b.request("DELETE", webhooks+"/"+id, "")
	req.Header.Set("Content-Type", "application/json")
	if _, err := b.try(req); !errors.Is(err, io.EOF) {
		t.Errorf("DELETE: %v", err)
	}
	if len(b.Webhooks()) != 1 {
		t.Error("DELETE was applied")
	}
}

func TestAnUnreadableBodyOfTheRightLength(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "garbled")
	g := b.post(body())
	if g.status != 201 || json.Valid([]byte(g.body)) || utf8.ValidString(g.body) ||
		strings.Contains(g.body, b.wantCreated(1)[0].ID) {
		t.Errorf("POST = %d %q", g.status, g.body)
	}
}

func TestAHangingRequestHangsUntilTheClientGivesUp(t *testing.T) {
	t.Parallel()
	for spec, made := range map[string]int{"hang": 0, "hang,commit": 1} {
		arrived := make(chan struct{})
		b := start(t, sandbox.Options{OnPost: func(int) { close(arrived) }}, spec)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		if g, err := b.try(b.request("POST", orders, body()).WithContext(ctx)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: POST = %+v, %v", spec, g, err)
		}
		if err := b.Close(); err != nil { // lets the request finish
			t.Error(err)
		}
		b.wantCreated(made)
		if line := b.lines()[0]; line.Status != 0 {
			t.Errorf("%s: truth log = %+v", spec, line)
		}
	}
}

func TestCloseEndsAHangingRequestWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	b := start(t, sandbox.Options{OnPost: func(int) { close(arrived) }}, "hang")
	failed := make(chan error)
	go func() {
		_, err := b.try(b.request("POST", orders, body()))
		failed <- err
	}()
	<-arrived
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, io.EOF) {
		t.Errorf("POST: %v", err)
	}
}

func TestFaultsAreNumberedByTheRequestsTheyCouldActOn(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "deliveries:status=503@2", "any:status=502@5", "any:webhooks:status=501@2")
	delivery := func() int {
		return b.creates(sandbox.ResourceDeliveries, creations[sandbox.ResourceDeliveries].with()).status
	}
	want := []int{201, 201, 503, 200, 502, 501}
	for i, call := range []func() int{
		func() int { return b.post(body()).status }, delivery, delivery,
		func() int { return b.get(webhooks).status }, delivery,
		func() int { return b.get(webhooks).status },
	} {
		if status := call(); status != want[i] {
			t.Errorf("request %d = %d, want %d", i+1, status, want[i])
		}
	}
}

func TestF100TheRepeatedAnswerIsOfTheSameResource(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{}, "deliveries:again")
	b.post(body())
	k := creations[sandbox.ResourceDeliveries]
	one := b.creates(sandbox.ResourceDeliveries, k.with())
	id := b.wantMade(sandbox.ResourceDeliveries, 1)[0].ID
	if g := b.creates(sandbox.ResourceDeliveries, k.with()); one.status != 201 || g.body != `{"id":"`+id+`"}` {
		t.Errorf("second = %d %s", g.status, g.body)
	}
}

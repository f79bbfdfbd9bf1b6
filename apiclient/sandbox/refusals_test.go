package sandbox_test

import (
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
)

func TestAWrongKeyIsRefusedByTheGateway(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "5 rule 1", "5 rule 2")
	keys := map[string][]string{
		"none": nil, "empty": {""}, "wrong": {"another"}, "with a scheme": {"Bearer " + key},
		"in another case": {strings.ToUpper(key)},
	}
	for name, values := range keys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			for _, req := range []*http.Request{
				b.request("POST", orders, body()),
				b.request("POST", orders, "{"),    // the key is checked before the body
				b.request("DELETE", webhooks, ""), // and before the method
				b.request("GET", webhooks, ""),
				b.request("GET", orders+"/x", ""),
			} {
				req.Header["Authorization"] = values
				g := b.send(req)
				if g.status != 401 || !strings.HasPrefix(g.body, `{"data":[],"error":{`) {
					t.Errorf("%s %s = %d %s", req.Method, req.URL.Path, g.status, g.body)
				}
			}
			b.wantCreated(0)
		})
	}
}

func TestAnOpenSandboxTakesAnyKey(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	b.SetAPIKey("")
	for value, status := range map[string]int{"whatever": 200, "Bearer whatever": 200, "": 401} {
		req := b.request("GET", webhooks, "")
		req.Header.Set("Authorization", value)
		if g := b.send(req); g.status != status {
			t.Errorf("key %q = %d, want %d", value, g.status, status)
		}
	}
}

func TestAnUnknownPathIsRefusedInNoFormOfTheAPI(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "9 prefix")
	b := start(t, sandbox.Options{})
	for _, path := range []string{
		"/", "/api/v1/integration", "/api/v2/integration/webhooks", orders + "/", webhooks + "/", "/" + webhooks,
		strings.ToUpper(webhooks),
		orders + "/" + someOther + "/x", "/api/v1/integration/x/../webhooks", "/api/v1/integration%2Fwebhooks",
		"/integration/webhooks", "/api/v1/integration/farms", webhooks + "/-/events",
	} {
		req := b.request("GET", path, "")
		req.Header.Del("Authorization") // a gateway checks no key if it has no route
		g := b.send(req)
		if g.status != 404 || strings.Contains(g.body, "messages") {
			t.Errorf("GET %s = %d %s", path, g.status, g.body)
		}
	}
	if got := b.Counts()["GET /"]; got != 1 {
		t.Errorf("requests of / = %d, want 1", got)
	}
}

func TestAWrongContentTypeIsRefusedWithAnEmptyBody(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 415")
	b := start(t, sandbox.Options{})
	headers := map[string]http.Header{
		"none":  {},
		"empty": {"Content-Type": {""}},
		"text":  {"Content-Type": {"text/plain"}},
		"form":  {"Content-Type": {"application/x-www-form-urlencoded"}},
		"other": {"Content-Type": {"application/json-patch+json"}},
	}
	for name, header := range headers {
		req := b.request("POST", orders, body())
		req.Header = header
		req.Header.Set("Authorization", key)
		if g := b.send(req); g.status != 415 || g.body != "" || g.header.Get("Content-Type") != "" {
			t.Errorf("%s = %d %q %v", name, g.status, g.body, g.header)
		}
	}
	req := b.request("GET", webhooks, "{}")
	req.Header.Del("Content-Type")
	if g := b.send(req); g.status != 415 {
		t.Errorf("GET with a body = %d", g.status)
	}
	req = b.request("POST", orders, "")
	if g := b.send(req); g.status != 415 {
		t.Errorf("POST without body and type = %d", g.status)
	}
	req.Header.Set("Content-Type", "application/json")
	if g := b.send(req); g.status != 400 || g.body != messages("message.malformed-request") {
		t.Errorf("POST without body = %d %s", g.status, g.body)
	}
	b.wantCreated(0)
	req = b.request("POST", orders, body())
	req.Header.Set("Content-Type", "Application/JSON; charset=UTF-8")
	if g := b.send(req); g.status != 201 {
		t.Errorf("POST in UTF-8 = %d %s", g.status, g.body)
	}
}

func TestABodyAboveTheLimitIsRefusedAndTheConnectionGoesOn(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	if g := b.post(body() + strings.Repeat(" ", 2<<20)); g.status != 413 || strings.Contains(g.body, "messages") {
		t.Errorf("POST = %d", g.status)
	}
	b.wantCreated(0)
	var reused bool
	req := b.request("POST", orders, body())
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused },
	}))
	if g := b.send(req); g.status != 201 || !reused {
		t.Errorf("next POST = %d, on the same connection: %t", g.status, reused)
	}
}

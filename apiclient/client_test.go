package apiclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// F096: among the headers is no Idempotency-Key, for which Go would repeat the POST by itself.
func TestAPostSendsExactlyTheFrozenBytesAndTheDocumentedHeaders(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+strings.ToUpper(testID)+`"}`))
	c := newClient(t, apiclient.Settings{BaseURL: s.url() + "/prefix/", UserAgent: "safrasync/test"})
	body := []byte("{ \"amount\" : 1.50 }\n")
	a, err := c.SubmitOrderCommitment(context.Background(), body, nil)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if a.ID != testID {
		t.Errorf("ID = %q, want %q in lower case", a.ID, testID)
	}
	seen := s.requests()
	if len(seen) != 1 {
		t.Fatalf("the server saw %d requests, want 1", len(seen))
	}
	r := seen[0]
	if r.Method != "POST" || r.URL.Path != "/prefix"+postPath || string(r.body) != string(body) {
		t.Errorf("request = %s %s %q", r.Method, r.URL.Path, r.body)
	}
	want := http.Header{
		"Authorization": {testKey}, "Content-Type": {"application/json"}, "Accept": {"application/json"},
		"Accept-Encoding": {"identity"}, "User-Agent": {"safrasync/test"}, "Content-Length": {"20"},
	}
	if d := cmp.Diff(want, r.Header); d != "" {
		t.Errorf("headers (-want +got):\n%s", d)
	}
	ev := a.Evidence
	if ev.Phase != apiclient.PhaseComplete || ev.ReusedConn || ev.RemoteAddr != s.addr ||
		ev.BytesWritten <= int64(len(body)) {
		t.Errorf("evidence = %+v", ev)
	}
	if ev.Duration <= 0 || ev.StartedAt.IsZero() || ev.Err != "" {
		t.Errorf("evidence = %+v", ev)
	}
	if got := a.RequestHeader.Get("Authorization"); got != "[secret]" {
		t.Errorf("the kept request header has Authorization %q", got)
	}
	if got := a.RequestHeader.Get("Content-Type"); got != "application/json" {
		t.Errorf("the kept request header has Content-Type %q", got)
	}
}

func TestAPathPrefixKeepsItsEscapes(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, created))
	c := newClient(t, apiclient.Settings{BaseURL: s.url() + "/a%2Fb//"})
	must.Get(c.SubmitOrderCommitment(context.Background(), payload, nil))(t)
	if got, want := s.requests()[0].RequestURI, "/a%2Fb"+postPath; got != want {
		t.Errorf("the request went to %s, want %s", got, want)
	}
}

func TestTheCallersDeadlineIsATimeout(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, _ received) bool {
		_, _ = io.Copy(io.Discard, c)
		return false
	})
	ctx, cancel := context.WithTimeout(context.Background(), overSoon)
	defer cancel()
	a, err := s.client(t).SubmitOrderCommitment(ctx, payload, nil)
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultTimeout)
}

func TestProxiesFromTheEnvironmentAreIgnored(t *testing.T) {
	proxy := startRaw(t, always(201, `{"id":"`+otherID+`"}`))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.url())
	}
	t.Setenv("NO_PROXY", "")
	a, _, err := submit(t, always(201, `{"id":"`+testID+`"}`))
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if n := proxy.conns.Load(); n != 0 || a.ID != testID {
		t.Errorf("the proxy got %d connections, id %q", n, a.ID)
	}
}

func TestF097ARedirectIsNeverFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		other := startRaw(t, always(201, `{"id":"`+otherID+`"}`))
		a, s, err := submit(t, always(status, "", "Location: "+other.url()+postPath))
		wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultRedirect)
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d: the server saw %d requests, want 1", status, n)
		}
		if n := other.conns.Load(); n != 0 {
			t.Errorf("%d: the other host got %d connections, want 0", status, n)
		}
	}
}

func TestNewNamesEveryWrongOptionAndNeverTheKey(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		o    apiclient.Settings
		want string // "" = accepted
	}{
		{"https with a prefix", apiclient.Settings{BaseURL: "https://api.example.com/coop/"}, ""},
		{"http on loopback by name", apiclient.Settings{BaseURL: "http://localhost:8080"}, ""},
		{"http on IPv6 loopback", apiclient.Settings{BaseURL: "http://[::1]:8080"}, ""},
		{
			"http elsewhere",
			apiclient.Settings{BaseURL: "http://api.example.com"},
			"api.base_url: http:// is accepted for this host only",
		},
		{"no address", apiclient.Settings{}, "api.base_url: missing"},
		{"other scheme", apiclient.Settings{BaseURL: "ftp://api.example.com"}, "must begin with https://"},
		{"no scheme", apiclient.Settings{BaseURL: "api.example.com"}, "must begin with https://"},
		{"user", apiclient.Settings{BaseURL: "https://u:topsecret@api.example.com"}, "must not contain a user"},
		{
			"broken with a password",
			apiclient.Settings{BaseURL: "https://u:topsecret@api.example.com:port"},
			"not a valid URL",
		},
		{"query", apiclient.Settings{BaseURL: "https://api.example.com?key=topsecret"}, "must not contain a query"},
		{"lone question mark", apiclient.Settings{BaseURL: "https://api.example.com?"}, "must not contain a query"},
		{"fragment", apiclient.Settings{BaseURL: "https://api.example.com/#"}, "must not contain a fragment"},
		{"dots", apiclient.Settings{BaseURL: "https://api.example.com/a/../b"}, "must not contain . or .."},
		{"no host", apiclient.Settings{BaseURL: "https:///x"}, "has no host name"},
		{"negative time-out", apiclient.Settings{BaseURL: "https://a.example", Timeout: -1}, "api.timeout"},
		{"negative connections", apiclient.Settings{BaseURL: "https://a.example", MaxConns: -1}, "api.max_in_flight"},
		{
			"user agent with a line end",
			apiclient.Settings{BaseURL: "https://a.example", UserAgent: "a\nb"},
			"user agent",
		},
		{"CA file missing", apiclient.Settings{
			BaseURL: "https://a.example",
			CAFile:  filepath.Join(t.TempDir(), "no.pem"),
		}, "api.ca_file: cannot be read"},
		{
			"CA file without a certificate",
			apiclient.Settings{BaseURL: "https://a.example", CAFile: "doc.go"},
			"holds no certificate",
		},
		{"F103: blank key", apiclient.Settings{BaseURL: "https://a.example", APIKey: " \n"}, "api.api_key: missing"},
		{
			"F103: line end inside the key",
			apiclient.Settings{BaseURL: "https://a.example", APIKey: "topsecret\nrest"},
			"contains a control character",
		},
		{
			"F103: NUL in the key",
			apiclient.Settings{BaseURL: "https://a.example", APIKey: "topsecret\x00"},
			"contains a control character",
		},
		{"F103: damaged key", apiclient.Settings{BaseURL: "https://a.example", APIKey: "topsecret…"}, "outside ASCII"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.o.APIKey == "" {
				tc.o.APIKey = "topsecret-key"
			}
			c, err := apiclient.New(tc.o)
			if err == nil {
				c.Close()
			}
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("New() = %v, want no error", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("New() = %v, want an error with %q", err, tc.want)
			case err != nil && strings.Contains(err.Error(), "topsecret"):
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestNewReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := apiclient.New(apiclient.Settings{Timeout: -1})
	for _, want := range []string{"api.base_url", "api.api_key", "api.timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want %s named", err, want)
		}
	}
}

func TestF103AKeyWithALineEndAroundItIsTrimmed(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(200, `[]`))
	c := newClient(t, apiclient.Settings{BaseURL: s.url(), APIKey: "\t" + testKey + "\r\n"})
	must.Get(c.ListWebhooks(context.Background()))(t)
	if got := s.requests()[0].Header.Get("Authorization"); got != testKey {
		t.Errorf("Authorization = %q, want the trimmed key", got)
	}
}

func TestAClosedClientSendsNothing(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	c := s.client(t)
	c.Close()
	c.Close()
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCanceled)
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
}

func TestAnEmptyPayloadAndABadNumberAreRefusedUnsent(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	c := s.client(t)
	a, err := c.SubmitOrderCommitment(context.Background(), nil, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
	a, err = c.CreateOrderCommitment(context.Background(), apiclient.OrderCommitmentRequest{Amount: "1e3"})
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
}

func TestF086ARefusedConnectionIsProofThatNothingWasSent(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := ln.Addr().String()
	_ = ln.Close()
	gate := func() error { t.Error("the gate was asked although there was no connection"); return nil }
	a, err := newClient(t, apiclient.Settings{BaseURL: "http://" + addr}).SubmitOrderCommitment(context.Background(),
		payload, gate)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultNetwork)
	if a.Evidence.Phase != apiclient.PhaseConnect || a.Status != 0 {
		t.Errorf("phase = %v, status = %d", a.Evidence.Phase, a.Status)
	}
	if !strings.Contains(err.Error(), "refused the connection") {
		t.Errorf("error = %v", err)
	}
}

func TestF085AnUnknownHostIsProofThatNothingWasSent(t *testing.T) {
	t.Parallel()
	a, err := newClient(t,
		apiclient.Settings{BaseURL: "https://nowhere.invalid"}).SubmitOrderCommitment(t.Context(), payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultNetwork)
	if a.Evidence.Phase > apiclient.PhaseConnect {
		t.Errorf("phase = %v", a.Evidence.Phase)
	}
}

func TestACancelledContextSendsNothing(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a, err := s.client(t).SubmitOrderCommitment(ctx, payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCanceled)
}

func TestCancellationAfterTheBytesLeftIsUnknownAndKeepsTheEvidence(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := startRaw(t, func(c net.Conn, _ received) bool {
		cancel() // the request is here: it may be executed
		_, _ = io.Copy(io.Discard, c)
		return false
	})
	a, err := s.client(t).SubmitOrderCommitment(ctx, payload, nil)
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultCanceled)
	if a.Evidence.Phase < apiclient.PhaseWroteSome || a.Evidence.BytesWritten == 0 {
		t.Errorf("evidence = %+v", a.Evidence)
	}
	if !strings.Contains(err.Error(), "cancelled") || !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestF093TheTimeoutIsNamedAndUnknown(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, _ received) bool {
		_, _ = io.Copy(io.Discard, c)
		return false
	})
	c := newClient(t, apiclient.Settings{BaseURL: s.url(), Timeout: overSoon})
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultTimeout)
	if !strings.Contains(err.Error(), "no complete answer within 2s (api.timeout)") ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
}

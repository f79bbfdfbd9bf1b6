package sandbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(apidoc.Main(m, apidoc.Sandbox)) }

const (
	key       = "key-of-the-tests"
	orders    = "/api/v1/integration/order-commitments"
	webhooks  = "/api/v1/integration/webhooks"
	producer  = "11111111-2222-4333-8444-555555555501"
	issuer    = "11111111-2222-4333-8444-555555555502"
	place     = "11111111-2222-4333-8444-555555555503"
	wallet    = "11111111-2222-4333-8444-555555555504"
	purchase  = "COMPRA"
	someOther = "11111111-2222-4333-8444-5555555555ff"
)

// box is a running sandbox with its own client.
type box struct {
	*sandbox.Running
	t      *testing.T
	client *http.Client
	log    *os.File // the truth log
}

// lines are those of the truth log.
func (b *box) lines() (lines []sandbox.Line) {
	b.t.Helper()
	for text := range bytes.Lines(must.Get(os.ReadFile(b.log.Name()))(b.t)) {
		var line sandbox.Line
		must.Do(b.t, json.Unmarshal(text, &line))
		lines = append(lines, line)
	}
	return lines
}

func start(t *testing.T, opts sandbox.Options, faults ...string) *box {
	t.Helper()
	opts.Faults = append(opts.Faults, must.Get(sandbox.ParseFaults(faults))(t)...)
	b := &box{t: t, log: must.Get(os.CreateTemp(t.TempDir(), "log"))(t)}
	if opts.Log == nil {
		opts.Log = b.log
	}
	if opts.APIKey == "" {
		opts.APIKey = key
	}
	b.Running = must.Get(sandbox.Start(opts, "127.0.0.1:0"))(t)
	transport := &http.Transport{}
	b.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		_ = b.log.Close()
	})
	return b
}

// got is an answer, read to its end.
type got struct {
	status int
	header http.Header
	body   string
}

// request returns a valid request; change it before sending.
func (b *box) request(method, path, body string) *http.Request {
	b.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := must.Get(http.NewRequestWithContext(b.t.Context(), method, b.URL+path, r))(b.t)
	req.Header.Set("Authorization", key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

func (b *box) try(req *http.Request) (got, error) {
	res, err := b.client.Do(req)
	if err != nil {
		return got{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return got{res.StatusCode, res.Header, string(body)}, err
}

func (b *box) send(req *http.Request) got {
	b.t.Helper()
	g, err := b.try(req)
	if err != nil {
		b.t.Errorf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return g
}

func (b *box) post(body string) got {
	b.t.Helper()
	return b.send(b.request(http.MethodPost, orders, body))
}

func (b *box) get(path string) got {
	b.t.Helper()
	return b.send(b.request(http.MethodGet, path, ""))
}

func (b *box) wantCreated(n int) []sandbox.Record {
	b.t.Helper()
	return b.wantMade(sandbox.ResourceOrderCommitments, n)
}

func quote(text string) string { return `"` + text + `"` }

// body returns a complete COMPRA, with changes.
func body(changes ...string) string {
	return creations[sandbox.ResourceOrderCommitments].with(changes...)
}

func messages(keys ...string) string { return `{"messages":["` + strings.Join(keys, `","`) + `"]}` }

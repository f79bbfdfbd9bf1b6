package alert

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/english"
)

const hookSecret = "canary-hook-T0KEN"

// hookServer is a receiver of webhooks on loopback.
type hookServer struct {
	*httptest.Server
	t       testing.TB
	mu      sync.Mutex // guards what follows
	bodies  [][]byte
	instead http.HandlerFunc // what answers in its place; nil: it takes what comes
}

func newHookServer(t testing.TB) *hookServer {
	h := &hookServer{t: t}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil || r.Method != http.MethodPost || r.URL.Path != "/services/"+hookSecret ||
		r.Header.Get("Content-Type") != "application/json; charset=utf-8":
		w.WriteHeader(http.StatusNotFound)
	case h.instead != nil:
		h.instead(w, r)
	default:
		h.bodies = append(h.bodies, body)
		found, err := english.JSON(body)
		if err != nil || found != nil {
			h.t.Errorf("English in a message in Portuguese: %q, %v", found, err)
		}
		if bytes.Contains(body, []byte(`"attachments"`)) { // as a workflow of Teams
			w.WriteHeader(http.StatusAccepted)
			return
		}
		_, _ = io.WriteString(w, "ok")
		return
	}
	_, _ = io.WriteString(w, hookSecret)
}

// answers lets something answer in its place; nil ends that.
func (h *hookServer) answers(instead http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.instead = instead
}

// status answers with a status alone.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// take returns the bodies that came since the last call.
func (h *hookServer) take() [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.bodies
	h.bodies = nil
	return out
}

func (h *hookServer) channel(form Form) *HTTPChannel {
	roots := h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return NewWebhook(WebhookOptions{
		URL: func() string { return h.URL + "/services/" + hookSecret }, Form: form,
		Roots: roots, Timeout: 10 * time.Second,
	})
}

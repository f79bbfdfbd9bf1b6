package alert

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

const hookSecret = "canary-hook-T0KEN"

// hookServer is a receiver of webhooks on loopback.
type hookServer struct {
	*httptest.Server
	mu      sync.Mutex // guards what follows
	bodies  [][]byte
	status  int           // 0 = 200
	to      string        // where a redirect points
	release chan struct{} // when set, an answer waits for it
}

func newHookServer(t testing.TB) *hookServer {
	h := &hookServer{}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/services/"+hookSecret ||
		r.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	h.mu.Lock()
	status, to, release := h.status, h.to, h.release
	if status == 0 {
		h.bodies = append(h.bodies, body)
	}
	h.mu.Unlock()
	if release != nil {
		<-release
	}
	if to != "" {
		w.Header().Set("Location", to)
	}
	if status != 0 {
		w.WriteHeader(status)
	}
	_, _ = io.WriteString(w, "ok "+hookSecret)
}

func (h *hookServer) answers(status int, to string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status, h.to = status, to
}

// take gives the bodies that came since the last call.
func (h *hookServer) take() [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.bodies
	h.bodies = nil
	return out
}

func (h *hookServer) channel(form Form) *Webhook {
	roots := h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return NewWebhook(WebhookOptions{
		URL: func() string { return h.URL + "/services/" + hookSecret }, Form: form,
		Roots: roots, Timeout: 10 * time.Second,
	})
}

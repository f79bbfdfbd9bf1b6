package alert

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// monitor is a monitor elsewhere, on loopback. It answers one call after the other.
type monitor struct {
	*httptest.Server
	calls chan string // "METHOD address body"
	mu    sync.Mutex
	next  http.HandlerFunc // what answers; nil: OK
}

func newMonitor(t testing.TB) *monitor {
	m := &monitor{calls: make(chan string, 100)}
	m.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m.mu.Lock()
		answer := m.next
		m.mu.Unlock()
		m.calls <- strings.TrimSpace(r.Method + " " + r.RequestURI + " " + string(body))
		if answer == nil {
			_, _ = io.WriteString(w, "OK")
			return
		}
		answer(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *monitor) answers(next http.HandlerFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = next
}

func (m *monitor) options(w *world, path string) HeartbeatOptions {
	return HeartbeatOptions{
		Webhook: WebhookOptions{
			URL: func() string { return m.URL + path }, Timeout: 10 * time.Second,
			Roots: m.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		},
		Jobs: []string{"contracts", "deliveries", "traceability"}, Ledger: w.store, Every: time.Hour,
		Log: zap.NewNop(), Count: func(string) {},
	}
}

// Both forms say that all is well, and what is not: never a pause by a person, who knows of it.
func TestAHeartbeatHasTheFormOfItsMonitor(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		m := newMonitor(t)
		w.status("traceability", trade.Paused, "paused")
		for path, want := range map[string][3]string{
			"/ping/" + hookSecret: {
				"POST /ping/" + hookSecret, "POST /ping/" + hookSecret + "/fail api_key,brake_new_rows",
				"POST /ping/" + hookSecret + "/fail backup",
			},
			"/key/safra?create=1": {
				"POST /key/safra?create=1", "POST /key/safra/fail?create=1 api_key,brake_new_rows",
				"POST /key/safra/fail?create=1 backup",
			},
			"/api/push/T0?status=up&msg=OK&ping=": {
				"GET /api/push/T0?msg=OK&ping=&status=up", "GET /api/push/T0?msg=api_key%2Cbrake_new_rows&ping=&status=down",
				"GET /api/push/T0?msg=backup&ping=&status=down",
			},
			"/kuma/api/push/T0": {
				"GET /kuma/api/push/T0?msg=OK&status=up", "GET /kuma/api/push/T0?msg=api_key%2Cbrake_new_rows&status=down",
				"GET /kuma/api/push/T0?msg=backup&status=down",
			},
		} {
			h := NewHeartbeat(m.options(w, path))
			if text := fmt.Sprint(h); strings.Contains(text, hookSecret) ||
				strings.Contains(text, "Kuma") != strings.Contains(path, "push") {
				t.Errorf("%s is shown as %s", path, text)
			}
			w.status("contracts", trade.Idle, "")
			w.status("deliveries", trade.Idle, "")
			must.Do(t, h.Backup(t.Context(), nil))
			w.status("contracts", trade.Stopped, "brake_new_rows")
			w.status("deliveries", trade.Stopped, "api_key")
			must.Do(t, h.Backup(t.Context(), nil))
			must.Do(t, h.Backup(t.Context(), io.ErrShortWrite))
			if diff := cmp.Diff(want, [3]string{<-m.calls, <-m.calls, <-m.calls}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	})
}

// What a monitor did not take is a fault, which does not show the address.
func TestAHeartbeatIsDeliveredOnlyWhenItsMonitorSaysSo(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			status int
			answer string
			want   string
		}{
			{200, "OK", ""},
			{201, "Created", ""},
			{200, "", ""},
			{200, `{"ok":true}`, ""},
			{200, "OK (not found)", "not_taken"},
			{200, "OK (rate limited)", "not_taken"},
			{200, `{"ok":false,"msg":"Monitor not found or not active."}`, "not_taken"},
			{200, "<!DOCTYPE html><html><body>Acesso bloqueado</body></html>", "not_taken"},
			{404, `{"ok":false,"msg":"Monitor not found or not active."}`, "http_404"},
			{302, "", "http_302"},
			{429, "", "http_429"},
		} {
			m := newMonitor(t)
			m.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			})
			err := NewHeartbeat(m.options(w, "/ping/"+hookSecret)).Backup(t.Context(), nil)
			if c.want == "" {
				must.Do(t, err)
			} else {
				wantFault(t, err, c.want)
			}
			if len(m.calls) != 1 {
				t.Errorf("%d %q: %d calls", c.status, c.answer, len(m.calls))
			}
		}
		silent := newMonitor(t)
		silent.answers(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		options := silent.options(w, "/ping/"+hookSecret)
		options.Webhook.Timeout = 50 * time.Millisecond
		wantFault(t, NewHeartbeat(options).Backup(t.Context(), nil), "timeout")
		silent.Close()
		wantFault(t, NewHeartbeat(options).Backup(t.Context(), nil), "refused")
		options.Webhook.URL = func() string { return "https://" + hookSecret + "%zz" }
		wantFault(t, NewHeartbeat(options).Backup(t.Context(), nil), "address")
	})
}

// runHeartbeat runs a heartbeat until the test ends it.
func runHeartbeat(t *testing.T, o HeartbeatOptions) (h *Heartbeat, end func()) {
	h = NewHeartbeat(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.Run(ctx) }()
	end = func() { cancel(); <-done }
	t.Cleanup(end)
	return h, end
}

// While passes are many the monitor gets one call in the time between two, and no pass waits for it.
func TestManyPassesAreOneHeartbeat(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		m := newMonitor(t)
		counted := make(chan string, 100)
		o := m.options(w, "/ping/"+hookSecret)
		o.Count = func(result string) { counted <- result }
		held := make(chan struct{})
		m.answers(func(http.ResponseWriter, *http.Request) { <-held })
		h, end := runHeartbeat(t, o)
		for range 1000 { // the monitor answers none yet
			h.Due()
		}
		<-m.calls
		h.Due()
		close(held)
		if result := <-counted; result != "done" {
			t.Errorf("counted %q", result)
		}
		h.Due()
		end()
		if len(m.calls) != 0 {
			t.Errorf("a second call: %s", <-m.calls)
		}
	})
}

// A job that runs for hours counts as it ended last: it neither silences the others nor hides its
// stop.
func TestAJobThatRunsIsToldAsItEndedLast(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		m := newMonitor(t)
		o := m.options(w, "/ping/"+hookSecret)
		o.Jobs, o.Every = []string{"contracts", "deliveries"}, time.Millisecond
		w.status("contracts", trade.Idle, "")
		h, _ := runHeartbeat(t, o)
		for _, step := range []struct {
			state trade.JobState
			stop  string
			want  string
		}{
			{trade.Running, "", ""}, // nothing else is known of it
			{trade.Stopped, "erp", "/fail erp"},
			{trade.Running, "", "/fail erp"},
			{trade.Idle, "", ""},
			{trade.Running, "", ""},
		} {
			w.status("deliveries", step.state, step.stop)
			h.Due()
			if call := <-m.calls; call != "POST /ping/"+hookSecret+step.want {
				t.Errorf("%s %s: called %q", step.state, step.stop, call)
			}
		}
	})
}

// What did not arrive is told again, with one line for each kind of trouble and one for its end.
func TestAHeartbeatThatDidNotArriveIsTriedAgain(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		m := newMonitor(t)
		core, lines := observer.New(zap.InfoLevel)
		counted := make(chan string, 100)
		o := m.options(w, "/ping/"+hookSecret)
		o.Every, o.Log, o.Count = time.Millisecond, zap.New(core), func(result string) { counted <- result }
		next := make(chan int, 5)
		for _, status := range []int{503, 503, 503, 404, 200} {
			next <- status
		}
		m.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-next) })
		h, end := runHeartbeat(t, o)
		h.Due()
		var got []string
		for range 5 {
			got = append(got, <-counted)
		}
		end()
		if diff := cmp.Diff([]string{"http_503", "http_503", "http_503", "http_404", "done"}, got); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		var told []string
		for _, line := range lines.All() {
			told = append(told, line.Message)
			if strings.Contains(fmt.Sprint(line.Message, line.ContextMap()), hookSecret) {
				t.Errorf("the log shows the address: %v", line.ContextMap())
			}
		}
		const not = "heartbeat not delivered; it is tried again"
		if diff := cmp.Diff([]string{not, not, "heartbeat delivered again"}, told); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// A ledger that cannot be read is told as a stop, and the call goes through the webhook's proxy.
func TestAHeartbeatGoesThroughTheProxy(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		asked := make(chan string, 1)
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.RequestURI
			_, _ = io.WriteString(w, "OK")
		}))
		t.Cleanup(proxy.Close)
		o := newMonitor(t).options(w, "")
		o.Webhook.URL = func() string { return "http://10.0.0.9/ping/" + hookSecret }
		o.Webhook.Proxy = func() string { return proxy.URL }
		must.Do(t, w.store.Close())
		must.Do(t, NewHeartbeat(o).Backup(t.Context(), nil))
		if got := <-asked; got != "http://10.0.0.9/ping/"+hookSecret+"/fail" {
			t.Errorf("the proxy was asked for %q", got)
		}
	})
}

package metrics

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/safrasync/safrasync/internal/connlimit"
)

// Handler serves GET /metrics, /healthz (the process is alive) and /readyz (it is ready; otherwise
// 503 with the reasons, one per line).
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	gather := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true})
	places := connlimit.NewPlaces(atOnce, waitAtMost)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		leave, err := places.Enter(r.Context(), connlimit.Key(from), eachAtOnce)
		if err != nil {
			m.Refused("metrics", "busy")
			plain(w, http.StatusServiceUnavailable, "too many ask at once")
			return
		}
		whole := &answer{header: w.Header(), status: http.StatusOK} // who reads slowly holds no place
		gather.ServeHTTP(whole, r)
		leave()
		if whole.status == http.StatusOK {
			connlimit.Know(r.Context())
		}
		w.WriteHeader(whole.status)
		_, _ = w.Write(whole.Bytes())
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if reasons := m.Unready(); len(reasons) > 0 {
			plain(w, http.StatusServiceUnavailable, strings.Join(reasons, "\n"))
			return
		}
		plain(w, http.StatusOK, "ready")
	})
	return mux
}

// How many scrapes read the ledger at once, in all and for one address; and how long others wait.
const (
	atOnce     = 4
	eachAtOnce = 2
	waitAtMost = 5 * time.Second
)

// answer collects an answer.
type answer struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header returns the header of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader notes the status.
func (a *answer) WriteHeader(status int) { a.status = status }

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text)
}

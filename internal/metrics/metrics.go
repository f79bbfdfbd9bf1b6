package metrics

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// Storage is what the metrics read from the ledger. No method writes.
type Storage interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	Ages(ctx context.Context, job string, without ...string) (trade.Ages, error)
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)

	// Instances returns the processes that may send, including those of the last hour that died;
	// none with SQLite.
	Instances(ctx context.Context) ([]trade.Instance, error)
	// LastBackup reports when the last copy of the ledger was made.
	LastBackup(ctx context.Context) (trade.LastBackup, error)
	// Witness tells how the witness of the ledger fares.
	Witness(ctx context.Context) (trade.Witness, error)
	// Sizes returns the bytes of the ledger's parts.
	Sizes(ctx context.Context) (trade.Sizes, error)
	// Spaces returns the free space in the ledger's folders on this host.
	Spaces() []trade.Space
}

// Settings configures the metrics.
type Settings struct {
	Ledger  Storage
	Jobs    func() []string // returns the jobs that are configured now
	Version string
	Now     func() time.Time
	// Unready returns why the daemon is not ready, in words for IT, or nothing if it is ready.
	Unready func() []string
}

// Metrics are the metrics of one daemon.
type Metrics struct {
	Settings
	registry *prometheus.Registry

	runs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
	read     *prometheus.CounterVec
	posts    *prometheus.CounterVec
	calls    *prometheus.HistogramVec
	answers  *prometheus.CounterVec
	refusals *prometheus.CounterVec
	beats    *prometheus.CounterVec
	reloads  *prometheus.CounterVec
	loaded   prometheus.Gauge
}

// New returns metrics with their own registry.
func New(o Settings) *Metrics {
	m := &Metrics{Settings: o, registry: prometheus.NewRegistry()}
	registered := promauto.With(m.registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return registered.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m.runs = counter("safrasync_runs_total",
		"Runs of a job that ended since the start of the process, by result: done, or the code of what stopped them.",
		"sync_job", "result")
	m.duration = registered.NewHistogramVec(prometheus.HistogramOpts{
		Name: "safrasync_run_duration_seconds", Help: "How long runs of a job took.",
		Buckets: []float64{0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600},
	}, []string{"sync_job"})
	m.read = counter("safrasync_rows_read_total",
		"Rows that the query of a job returned since the start of the process.", "sync_job")
	m.posts = counter("safrasync_posts_total",
		"Requests that create a record, begun by a job since the start of the process.", "sync_job")
	m.calls = registered.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "safrasync_api_request_duration_seconds",
		Help:    "How long requests to the platform took, by operation and class of the answer: 2xx to 5xx, 401, 403 and 429 apart, none without one.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120},
	}, []string{"operation", "class"})
	m.refusals = counter("safrasync_refused_total",
		"Requests and connections that a listener refused since the start of the process, by cause.",
		"listener", "cause")
	m.beats = counter("safrasync_heartbeats_total",
		"Heartbeats sent since the start of the process, by result: done, or why they were not taken.", "result")
	m.answers = counter("safrasync_api_outcomes_total",
		"Requests to the platform by what is known of them: created, not_created, not_sent, created_id_unknown or unknown; answered for requests that create nothing.",
		"operation", "outcome")
	m.reloads = counter("safrasync_reloads_total",
		"Reloads of the configuration since the start of the process, by result: done, or refused (the old one stays).",
		"result")
	m.loaded = registered.NewGauge(prometheus.GaugeOpts{
		Name: "safrasync_config_loaded_timestamp_seconds",
		Help: "When the configuration in force was taken over: at the start, or by the last reload that was not refused.",
	})
	m.loaded.Set(float64(o.Now().Unix()))
	for _, listener := range []string{"console", "http_api", "metrics", "webhooks"} { // before anything happens
		m.refusals.WithLabelValues(listener, "connection")
	}
	for _, result := range []string{done, refused} {
		m.reloads.WithLabelValues(result)
	}
	m.beats.WithLabelValues(done)
	registered.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "safrasync_build_info", Help: "1, with the version of the program and of Go.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&ledgerCollector{m},
	)
	return m
}

// done is the result of a run that nothing stopped.
const done = "done"

// Reported counts a run that ended.
func (m *Metrics) Reported(r trade.RunReport) {
	if r.ID == "" { // it never began
		return
	}
	result := done
	if r.Stopped != nil {
		result = r.Stopped.Code
	}
	m.runs.WithLabelValues(r.Job, result).Inc()
	m.duration.WithLabelValues(r.Job).Observe(r.EndedAt.Sub(r.StartedAt).Seconds())
	m.read.WithLabelValues(r.Job).Add(float64(r.Read))
	m.posts.WithLabelValues(r.Job).Add(float64(r.Sent))
}

// Refused counts a request or a connection that a listener refused.
func (m *Metrics) Refused(listener, cause string) { m.refusals.WithLabelValues(listener, cause).Inc() }

// refused is the result of a reload whose configuration was refused.
const refused = "refused"

// Reloaded counts a reload whose configuration was adopted at this time.
func (m *Metrics) Reloaded(at time.Time) {
	m.reloads.WithLabelValues(done).Inc()
	m.loaded.Set(float64(at.Unix()))
}

// ReloadRefused counts a reload whose configuration was refused.
func (m *Metrics) ReloadRefused() { m.reloads.WithLabelValues(refused).Inc() }

// Beat counts a heartbeat; result is done, or the code of its fault.
func (m *Metrics) Beat(result string) { m.beats.WithLabelValues(result).Inc() }

// Called counts a request to the platform. status is 0 when no answer came.
func (m *Metrics) Called(operation string, status int, outcome string, took time.Duration) {
	m.calls.WithLabelValues(operation, class(status)).Observe(took.Seconds())
	m.answers.WithLabelValues(operation, outcome).Inc()
}

// class maps a status to a small closed set.
func class(status int) string {
	switch {
	case status == 0:
		return "none"
	case status == 401, status == 403, status == 429:
		return strconv.Itoa(status)
	case status >= 200 && status <= 599:
		return strconv.Itoa(status/100) + "xx"
	}
	return "other"
}

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

package metrics

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/safrasync/safrasync/trade"
)

// JobLedger is what the metrics read from the ledger about one job. No method writes.
type JobLedger interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	Ages(ctx context.Context, job string, without ...string) (trade.Ages, error)
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
}

// WholeLedger is what the metrics read about the ledger itself and the processes that use it. No
// method writes.
type WholeLedger interface {
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

// Storage is what the metrics need from the storage.
type Storage interface {
	JobLedger
	WholeLedger
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
	reloads  reloads
}

// New returns metrics with their own registry.
func New(o Settings) *Metrics {
	m := &Metrics{Settings: o, registry: prometheus.NewRegistry(), reloads: newReloads(o.Now())}
	m.count()
	for _, listener := range []string{"console", "http_api", "metrics", "webhooks"} { // before anything happens
		m.refusals.WithLabelValues(listener, "connection")
	}
	m.beats.WithLabelValues(done)
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&ledgerCollector{m},
		m.runs, m.duration, m.read, m.posts, m.calls, m.answers, m.refusals, m.beats,
		m.reloads.total, m.reloads.last,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "safrasync_build_info", Help: "1, with the version of the program and of Go.",
			ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
		}, func() float64 { return 1 }),
	)
	return m
}

package metrics

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/safrasync/safrasync/trade"
)

// JobLedger is what the ledger tells of one job; every method only reads.
type JobLedger interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	Ages(ctx context.Context, job string) (trade.Ages, error)
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
}

// WholeLedger is what the ledger tells of itself and of those who work on it; every method only
// reads.
type WholeLedger interface {
	// Instances returns the processes that may send, dead ones of the last hour too; none with
	// SQLite.
	Instances(ctx context.Context) ([]trade.Instance, error)
	// Sizes returns the bytes of the ledger's parts.
	Sizes(ctx context.Context) (trade.Sizes, error)
	// Spaces tells the room in the ledger's folders on this host.
	Spaces() []trade.Space
}

// Ledger is what the metrics need of the storage.
type Ledger struct {
	JobLedger
	WholeLedger
}

// LedgerOf returns the parts of a storage that the metrics need.
func LedgerOf[L interface {
	JobLedger
	WholeLedger
}](l L) Ledger {
	return Ledger{l, l}
}

// Options are what the metrics are made of.
type Options struct {
	Ledger  Ledger
	Jobs    func() []string // the configured jobs of this moment
	Version string
	Now     func() time.Time
	// Unready tells why the daemon is not ready, in words for IT; nothing when it is.
	Unready func() []string
}

// Metrics are the metrics of one daemon.
type Metrics struct {
	Options
	registry *prometheus.Registry

	runs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
	read     *prometheus.CounterVec
	posts    *prometheus.CounterVec
	calls    *prometheus.HistogramVec
	answers  *prometheus.CounterVec
	reloads  reloads
}

// New makes metrics with a registry of their own.
func New(o Options) *Metrics {
	m := &Metrics{Options: o, registry: prometheus.NewRegistry(), reloads: newReloads(o.Now())}
	m.count()
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&ledgerCollector{m},
		m.runs, m.duration, m.read, m.posts, m.calls, m.answers, m.reloads.total, m.reloads.last,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "safrasync_build_info", Help: "1, with the version of the program and of Go.",
			ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
		}, func() float64 { return 1 }),
	)
	return m
}

package daemon

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/internal/metrics"
)

// monitor serves the metrics and the health of the daemon. It outlives the generations of the
// configuration, so that its counters continue.
type monitor struct {
	*metrics.Metrics
	log      *zap.Logger
	refusals *connlimit.Refusals // of all listeners
	current  atomic.Pointer[generation]
	address  string // as configured; "" = none
	server   *connlimit.Serving
}

// readyWithin is how long the ledger may take to answer a health check.
const readyWithin = 5 * time.Second

// serve makes a generation the one that is monitored, at its address.
func (m *monitor) serve(g *generation, listener net.Listener) {
	m.current.Store(g)
	if g.Config.Metrics.Listen == m.address {
		return
	}
	m.close()
	m.address = g.Config.Metrics.Listen
	if listener == nil {
		return
	}
	refused := m.refusals.Of("metrics")
	bounded := &connlimit.Listener{
		Listener: listener, Most: metricsMost, Each: MetricsEach, OnRefused: func() { refused("connection", nil) },
	}
	m.server = connlimit.Serve(&http.Server{
		Handler: m.Handler(), ReadTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: zap.NewStdLog(m.log),
	}, bounded, nil, m.log, "metrics are no longer served")
	m.log.Info("metrics are served", zap.String("address", listener.Addr().String()))
}

// The most connections to the metrics, in all and from one address. Few programs scrape them, and
// the file descriptors are needed for sending.
const (
	metricsMost = 32
	MetricsEach = 16
)

// close closes the listener and cuts requests in progress.
func (m *monitor) close() {
	if m.server != nil {
		m.server.Close(0)
		m.server, m.address = nil, ""
	}
}

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloads counts what became of the requests to read the configuration again.
type reloads struct {
	total *prometheus.CounterVec
	last  prometheus.Gauge
}

func newReloads(started time.Time) reloads {
	r := reloads{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "safrasync_reloads_total",
			Help: "Reloads of the configuration since the start of the process, by result: done, or refused (the old one stays).",
		}, []string{"result"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "safrasync_config_loaded_timestamp_seconds",
			Help: "When the configuration in force was taken over: at the start, or by the last reload that was not refused.",
		}),
	}
	for _, result := range []string{done, refused} { // both are there before anything happens
		r.total.WithLabelValues(result)
	}
	r.last.Set(float64(started.Unix()))
	return r
}

// refused is the result of a reload whose configuration was not taken over.
const refused = "refused"

// Reloaded counts a configuration that was taken over.
func (m *Metrics) Reloaded(at time.Time) {
	m.reloads.total.WithLabelValues(done).Inc()
	m.reloads.last.Set(float64(at.Unix()))
}

// ReloadRefused counts a configuration that was not taken over.
func (m *Metrics) ReloadRefused() { m.reloads.total.WithLabelValues(refused).Inc() }

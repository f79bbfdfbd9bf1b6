package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloads counts the reloads of the configuration by result.
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
	for _, result := range []string{done, refused} { // both exist before anything happens
		r.total.WithLabelValues(result)
	}
	r.last.Set(float64(started.Unix()))
	return r
}

// refused is the result of a reload whose configuration was refused.
const refused = "refused"

// Reloaded counts a reload whose configuration was adopted at this time.
func (m *Metrics) Reloaded(at time.Time) {
	m.reloads.total.WithLabelValues(done).Inc()
	m.reloads.last.Set(float64(at.Unix()))
}

// ReloadRefused counts a reload whose configuration was refused.
func (m *Metrics) ReloadRefused() { m.reloads.total.WithLabelValues(refused).Inc() }

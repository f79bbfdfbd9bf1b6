package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/safrasync/safrasync/trade"
)

// done is the result of a run that nothing stopped.
const done = "done"

func (m *Metrics) count() {
	m.runs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "safrasync_runs_total",
		Help: "Runs of a job that ended since the start of the process, by result: done, or the code of what stopped them.",
	}, []string{"sync_job", "result"})
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "safrasync_run_duration_seconds", Help: "How long runs of a job took.",
		Buckets: []float64{0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600},
	}, []string{"sync_job"})
	m.read = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "safrasync_rows_read_total",
		Help: "Rows that the query of a job returned since the start of the process.",
	}, []string{"sync_job"})
	m.posts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "safrasync_posts_total",
		Help: "Requests that create a record, begun by a job since the start of the process.",
	}, []string{"sync_job"})
	m.calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "safrasync_api_request_duration_seconds",
		Help:    "How long requests to the platform took, by operation and class of the answer: 2xx to 5xx, 401, 403 and 429 apart, none without one.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120},
	}, []string{"operation", "class"})
	m.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "safrasync_refused_total",
		Help: "Requests and connections that a listener refused since the start of the process, by cause.",
	}, []string{"listener", "cause"})
	m.beats = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "safrasync_heartbeats_total",
		Help: "Heartbeats sent since the start of the process, by result: done, or why they were not taken.",
	}, []string{"result"})
	m.answers = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "safrasync_api_outcomes_total",
		Help: "Requests to the platform by what is known of them: created, not_created, not_sent, created_id_unknown or unknown; answered for requests that create nothing.",
	}, []string{"operation", "outcome"})
}

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
	case status == 401:
		return "401"
	case status == 403:
		return "403"
	case status == 429:
		return "429"
	case status >= 200 && status <= 599:
		return string(rune('0'+status/100)) + "xx"
	}
	return "other"
}

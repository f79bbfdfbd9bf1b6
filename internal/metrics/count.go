package metrics

import (
	"strconv"
	"time"

	"github.com/safrasync/safrasync/trade"
)

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

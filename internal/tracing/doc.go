// Package tracing sends traces of runs and of their requests to an OpenTelemetry collector, when `tracing.endpoint` asks for it.
//
// A run is one trace, whose id is the run's own id, so that a log line leads to it; each request of the run is a span in it. It guarantees that a
// collector which is slow, down or wrong never holds a run up: spans are dropped then; that nothing of a row, a person or a secret is in a span, and no path and no
// body (I10); and that the platform's requests carry no header for it, because its document names none.
package tracing

package tracing

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/safrasync/safrasync/trade"
)

// closingLasts bounds how long the end of the process waits for the last spans.
const closingLasts = 3 * time.Second

// Tracer sends spans. The nil Tracer sends nothing.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// Call is a request to the platform, as far as it may be told.
type Call struct {
	Run       string // id of the run that made it; "" outside of one
	Operation string // from a closed set
	Method    string
	Status    int // 0 without an answer
	Outcome   string
	Started   time.Time
	Took      time.Duration
}

// New makes a tracer for the collector at an address such as http://127.0.0.1:4318; nothing is sent yet. failed is told when spans could not be delivered.
func New(endpoint, version string, failed func(error)) (*Tracer, error) {
	address, err := url.JoinPath(endpoint, "v1/traces")
	if err != nil {
		return nil, fmt.Errorf("tracing.endpoint: %w", err)
	}
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(address), otlptracehttp.WithTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("tracing.endpoint: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&telling{exporter, failed}), sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "safrasync"), attribute.String("service.version", version))),
	)
	return &Tracer{provider, provider.Tracer("safrasync")}, nil
}

// telling tells of batches that were not delivered.
type telling struct {
	sdktrace.SpanExporter
	failed func(error)
}

// ExportSpans delivers a batch.
func (t *telling) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := t.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		t.failed(err)
	}
	return nil
}

// Reported sends the span of a run that ended.
func (t *Tracer) Reported(r trade.RunReport) {
	if t == nil || r.ID == "" {
		return
	}
	_, span := t.tracer.Start(rootOf(r.ID), "run "+r.Job, trace.WithTimestamp(r.StartedAt), trace.WithAttributes(
		attribute.String("safrasync.job", r.Job), attribute.String("safrasync.run", r.ID), attribute.Bool("safrasync.sweep", r.Sweep),
		attribute.Int("safrasync.read", r.Read), attribute.Int("safrasync.new", r.New), attribute.Int("safrasync.changed", r.Changed), attribute.Int("safrasync.sent", r.Sent),
	))
	if r.Stopped != nil {
		span.SetStatus(codes.Error, r.Stopped.Code)
	}
	span.End(trace.WithTimestamp(r.EndedAt))
}

// Called sends the span of a request.
func (t *Tracer) Called(c Call) {
	if t == nil {
		return
	}
	_, span := t.tracer.Start(childOf(c.Run), c.Operation, trace.WithTimestamp(c.Started), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", c.Method), attribute.Int("http.response.status_code", c.Status), attribute.String("safrasync.outcome", c.Outcome),
	))
	if c.Status == 0 || c.Status >= 400 {
		span.SetStatus(codes.Error, c.Outcome)
	}
	span.End(trace.WithTimestamp(c.Started.Add(c.Took)))
}

// Close sends what is still there, for a few seconds at most.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closingLasts)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}

// chosen is the place of a run's ids in a context.
type chosen struct{}

// idsOf makes the ids of a run's trace and of its own span out of its id.
func idsOf(run string) (trace.TraceID, trace.SpanID, bool) {
	id, err := uuid.Parse(run)
	return trace.TraceID(id), trace.SpanID(id[8:]), err == nil
}

// rootOf gives a context in which the next span is that of a run.
func rootOf(run string) context.Context {
	return context.WithValue(context.Background(), chosen{}, run)
}

// childOf gives a context in which the next span is under that of a run, which need not have been sent yet.
func childOf(run string) context.Context {
	traceID, spanID, ok := idsOf(run)
	if !ok {
		return context.Background()
	}
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled}))
}

// ids makes the ids of spans: chosen for runs, random for everything else.
type ids struct{}

// NewIDs gives the ids of a root span.
func (ids) NewIDs(ctx context.Context) (traceID trace.TraceID, spanID trace.SpanID) {
	if run, ok := ctx.Value(chosen{}).(string); ok {
		if traceID, spanID, ok := idsOf(run); ok {
			return traceID, spanID
		}
	}
	_, _ = rand.Read(traceID[:])
	_, _ = rand.Read(spanID[:])
	return traceID, spanID
}

// NewSpanID gives the id of any other span.
func (ids) NewSpanID(context.Context, trace.TraceID) (spanID trace.SpanID) {
	_, _ = rand.Read(spanID[:])
	return spanID
}

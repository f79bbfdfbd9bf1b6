package tracing

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/safrasync/safrasync/trade"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestARunIsATraceAndItsRequestsAreInIt(t *testing.T) {
	var got []*otlp.Span
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err := errors.Join(err, proto.Unmarshal(body, &request)); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				got = append(got, scope.Spans...)
			}
		}
	}))
	defer server.Close()
	tracer, err := New(server.URL, "1.2.3", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	run := uuid.Must(uuid.NewV7())
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	tracer.Called(Call{Run: run.String(), Operation: "create order commitment", Method: "POST", Status: 500, Outcome: "unknown", Started: began.Add(time.Second), Took: 20 * time.Millisecond})
	tracer.Called(Call{Operation: "list webhooks", Method: "GET", Status: 200, Outcome: "answered", Started: began, Took: time.Millisecond})
	tracer.Reported(trade.RunReport{ID: run.String(), Job: "contracts", StartedAt: began, EndedAt: began.Add(2 * time.Second), Sent: 1, Stopped: &trade.Stop{Code: "in_doubt", Text: "not to be told"}})
	tracer.Reported(trade.RunReport{Job: "never began"})
	tracer.Close()
	server.Close()
	if len(got) != 3 {
		t.Fatalf("%d spans: %v", len(got), got)
	}
	post, list, root := got[0], got[1], got[2]
	if !bytes.Equal(root.TraceId, run[:]) || len(root.ParentSpanId) != 0 || root.Name != "run contracts" || root.EndTimeUnixNano-root.StartTimeUnixNano != 2e9 || root.Status.Message != "in_doubt" {
		t.Errorf("the run: %v", root)
	}
	if !bytes.Equal(post.TraceId, run[:]) || !bytes.Equal(post.ParentSpanId, root.SpanId) || post.Name != "create order commitment" || post.Status.Code != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("the request: %v", post)
	}
	if bytes.Equal(list.TraceId, run[:]) || len(list.ParentSpanId) != 0 || list.Status.Code == otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("a request outside of a run: %v", list)
	}
}

func TestACollectorThatIsDownHoldsNothingUp(t *testing.T) {
	server := httptest.NewServer(nil)
	address := server.URL
	server.Close()
	var failed error
	tracer, err := New(address, "1.2.3", func(err error) { failed = err })
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 { // more than are kept
		tracer.Called(Call{Operation: "x", Started: time.Now()})
	}
	tracer.Close()
	if failed == nil {
		t.Error("nobody was told")
	}
}

func TestWithoutAnAddressNothingIsTraced(t *testing.T) {
	var none *Tracer
	none.Called(Call{})
	none.Reported(trade.RunReport{ID: "x"})
	none.Close()
}

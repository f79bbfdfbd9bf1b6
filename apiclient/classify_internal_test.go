package apiclient

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

// F136: the same 502 is a refusal only when it came at once.
func TestF136ASlow502IsUnknown(t *testing.T) {
	t.Parallel()
	refused := readForm(502, nil, []byte(`{"messages":["`+messageRefused+`"]}`))
	for elapsed, want := range map[time.Duration]Known{
		20 * time.Millisecond:           NotCreated,
		3 * time.Second:                 NotCreated,
		3*time.Second + time.Nanosecond: Unknown,
		30 * time.Second:                Unknown,
	} {
		resp := &http.Response{StatusCode: 502, ProtoMajor: 1}
		if got := classify(resp, refused, true, elapsed); got != want {
			t.Errorf("classify(502, %v) = %v, want %v", elapsed, got, want)
		}
	}
}

func TestAnAnswerOfAnotherProtocolIsUnknown(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 404, 429} {
		resp := &http.Response{StatusCode: status, ProtoMajor: 2}
		if got := classify(resp, reading{}, true, 0); got != Unknown {
			t.Errorf("classify(%d over HTTP/2) = %v, want unknown", status, got)
		}
	}
}

// The zero values claim nothing.
func TestZeroValuesClaimNothing(t *testing.T) {
	t.Parallel()
	var a Answer
	if a.Known != Unknown || a.Evidence.Phase != PhaseNone || a.Format != FormatNone {
		t.Errorf("the zero answer claims %v, %v, %v", a.Known, a.Evidence.Phase, a.Format)
	}
	for name, s := range map[string]string{
		"Known": Known(-1).String(), "Format": Format(99).String(), "Phase": Phase(99).String(),
		"Fault": FaultCode(99).String(),
	} {
		if s != "invalid" {
			t.Errorf("%s out of range prints %q", name, s)
		}
	}
}

// Go's own repetition of a request on a second connection is stopped before its first byte.
func TestASecondConnectionIsRefusedOnceBytesHaveLeft(t *testing.T) {
	t.Parallel()
	e := newExchange(t.Context(), time.Now(), call{})
	first, second := newTrackedConn(nil, idleTimeout), newTrackedConn(nil, idleTimeout)
	must.Do(t, e.beginWrite(first))
	e.endWrite(nil) // the write failed without a byte: it still counts
	if err := e.beginWrite(second); !errors.Is(err, errSecondConn) {
		t.Errorf("beginWrite on a second connection = %v, want errSecondConn", err)
	}
	if !e.hasWritten() {
		t.Error("a failed write was forgotten")
	}
	e.finish()
	if err := e.beginWrite(first); !errors.Is(err, errOver) {
		t.Errorf("beginWrite after the end = %v, want errOver", err)
	}
}

// The length of a key's parts is counted beside the expression, and their number in it.
func TestHowLongTheKeyOfAMessageMayBe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"message." + strings.Repeat("a", 60): true, "message." + strings.Repeat("a", 61): false,
		"message" + strings.Repeat(".ab", 8): true, "message" + strings.Repeat(".ab", 9): false, "message": false,
		"message.": false, "message..a": false, "message.a\n": false,
	} {
		if got := IsMessageKey(text); got != want {
			t.Errorf("%.30q of %d: a key %v", text, len(text), got)
		}
	}
}

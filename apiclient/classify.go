package apiclient

import (
	"net/http"
	"time"
)

const (
	// messageRefused is the only key that makes a 502 a refusal. It means that the platform could
	// not connect to its downstream service.
	messageRefused = "message.integration.connection.refused"
	// refusedWithin bounds how long such a 502 may take. A refused connection is reported at once.
	// Common server frameworks report the same error for a read time-out, after which the record
	// may exist; that takes longer.
	refusedWithin = 3 * time.Second
)

// refusals are the statuses that mean "not created" (chapter 7, Status codes; HTTP for the rest). A
// status that is not listed proves nothing. True: with any body. False: only if the body is in a
// form of the API. Since each run begins with a harmless request that must succeed, an HTML page or
// an empty body means that an intermediary answered, which proves nothing.
var refusals = map[int]bool{
	http.StatusBadRequest:                  true,
	http.StatusUnauthorized:                false,
	http.StatusForbidden:                   false,
	http.StatusNotFound:                    false,
	http.StatusMethodNotAllowed:            false,
	http.StatusNotAcceptable:               false,
	http.StatusConflict:                    true,
	http.StatusLengthRequired:              false,
	http.StatusRequestEntityTooLarge:       true,
	http.StatusRequestURITooLong:           false,
	http.StatusUnsupportedMediaType:        false,
	http.StatusUnprocessableEntity:         true,
	http.StatusUpgradeRequired:             false,
	http.StatusRequestHeaderFieldsTooLarge: false,
	http.StatusNotImplemented:              false,
}

// classify returns what an answer with a complete status line and header proves. A 2xx is Unknown
// here: whether it is Created depends on the id, which the caller reads.
//
// elapsed is the time from the first byte sent to the end of the answer. form reports whether the
// body is in a form of the API.
func classify(resp *http.Response, r reading, form bool, elapsed time.Duration) Known {
	anyBody, refusal := refusals[resp.StatusCode]
	switch {
	case resp.ProtoMajor != 1:
		return Unknown
	case resp.StatusCode == http.StatusTooManyRequests:
		return Throttled
	case refusal && (anyBody || form):
		return NotCreated
	case resp.StatusCode == http.StatusBadGateway && r.format == FormatA &&
		r.count == 1 && r.messages[0] == messageRefused && elapsed <= refusedWithin:
		return NotCreated
	default:
		return Unknown
	}
}

func success(status int) bool { return status >= 200 && status <= 299 }

// Phase is how far a request got. Phases only advance.
type Phase int

// The phases, in order. From PhaseWroteSome on, the request may have been executed.
const (
	// PhaseNone: nothing was begun.
	PhaseNone Phase = iota
	// PhaseDNS: the host name was being resolved.
	PhaseDNS
	// PhaseConnect: a connection was being opened.
	PhaseConnect
	// PhaseTLS: the TLS handshake was in progress.
	PhaseTLS
	// PhaseGotConn: a connection was ready; no write was begun.
	PhaseGotConn
	// PhaseWroteSome: a write of request bytes was begun. It counts even if the write failed at
	// once.
	PhaseWroteSome
	// PhaseWroteAll: the whole request was passed to the operating system.
	PhaseWroteAll
	// PhaseFirstByte: the first byte of an answer arrived.
	PhaseFirstByte
	// PhaseHeaders: status line and headers arrived completely.
	PhaseHeaders
	// PhaseBody: the body was being read.
	PhaseBody
	// PhaseComplete: the answer was read to its end.
	PhaseComplete
)

var phaseNames = []string{
	"none", "dns", "connect", "tls", "got_conn", "wrote_some", "wrote_all", "first_byte", "headers", "body", "complete",
}

// String returns the stored name, such as "wrote_all".
func (p Phase) String() string { return nameOf(phaseNames, int(p)) }

// MarshalText returns the stored name.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Evidence records how far a request got, and when. It is stored with the attempt, because a person
// may later decide by it.
type Evidence struct {
	// Phase is the last phase that was reached.
	Phase Phase
	// BytesWritten counts the plain bytes of the request that the operating system accepted (above
	// TLS; more go over the wire). It may be 0 with PhaseWroteSome: a failed write proves nothing.
	BytesWritten int64
	// ReusedConn is set when the connection had served an earlier request.
	ReusedConn bool
	// RemoteAddr is the address of the peer, as ip:port; empty before PhaseGotConn.
	RemoteAddr string
	// StartedAt is the wall clock at the start of the call, in UTC.
	StartedAt time.Time
	// Duration is the time from the start to the end of the call, on the monotonic clock (which
	// does not count suspended time).
	Duration time.Duration
	// FirstByteAfter is the time from the first byte sent to the first byte received; 0 when either
	// did not happen.
	FirstByteAfter time.Duration
	// Err is the text of the transport's error, without secrets, quoted foreign bytes and URL
	// queries; empty if there was none.
	Err string
	// Why is the same as a sentence, which quotes what is not known; it is not stored.
	Why error `json:"-"`
}

package apiclient

import (
	"net/http"
	"time"
)

const (
	// messageRefused is the only key that makes a 502 a refusal: it says that the downstream service was not reached.
	messageRefused = "message.integration.connection.refused"
	// refusedWithin: a refused connection is reported at once. Common server frameworks give the same error for a read
	// time-out, after which the record may exist; those take longer.
	refusedWithin = 3 * time.Second
)

// refusals are the statuses that mean "not created" whatever the body is (chapter 7, Status codes; HTTP for the rest).
// Statuses that are not listed are not assumed.
var refusals = map[int]bool{
	http.StatusBadRequest:                  true,
	http.StatusUnauthorized:                true,
	http.StatusForbidden:                   true,
	http.StatusNotFound:                    true,
	http.StatusMethodNotAllowed:            true,
	http.StatusNotAcceptable:               true,
	http.StatusConflict:                    true,
	http.StatusLengthRequired:              true,
	http.StatusRequestEntityTooLarge:       true,
	http.StatusRequestURITooLong:           true,
	http.StatusUnsupportedMediaType:        true,
	http.StatusUnprocessableEntity:         true,
	http.StatusUpgradeRequired:             true,
	http.StatusRequestHeaderFieldsTooLarge: true,
	http.StatusNotImplemented:              true,
}

// classify says what an answer with a complete status line and header means. The status decides; the body only does for
// one 502. A 2xx is Unknown here: whether it is Created depends on the id, which the caller reads.
//
// elapsed is the time from the first byte sent to the end of the answer.
func classify(resp *http.Response, r reading, elapsed time.Duration) Known {
	switch {
	case resp.ProtoMajor != 1:
		return Unknown
	case resp.StatusCode == http.StatusTooManyRequests:
		return Throttled
	case refusals[resp.StatusCode]:
		return NotCreated
	case resp.StatusCode == http.StatusBadGateway && r.onlyMessage(messageRefused) && elapsed <= refusedWithin:
		return NotCreated
	default:
		return Unknown
	}
}

func success(status int) bool { return status >= 200 && status <= 299 }

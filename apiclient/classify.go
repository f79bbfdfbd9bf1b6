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

// refusals are the statuses that mean "not created" (chapter 7, Status codes; HTTP for the rest). Statuses that are not
// listed are not assumed. True: whatever the body is. False: only in a form of the API. After a harmless question that was
// answered well, a page or an empty body says that something on the road answered, and proves nothing.
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

// classify says what an answer with a complete status line and header means. A 2xx is Unknown here: whether it is Created
// depends on the id, which the caller reads.
//
// elapsed is the time from the first byte sent to the end of the answer; form tells whether the body is in a form of the API.
func classify(resp *http.Response, r reading, form bool, elapsed time.Duration) Known {
	anyBody, refusal := refusals[resp.StatusCode]
	switch {
	case resp.ProtoMajor != 1:
		return Unknown
	case resp.StatusCode == http.StatusTooManyRequests:
		return Throttled
	case refusal && (anyBody || form):
		return NotCreated
	case resp.StatusCode == http.StatusBadGateway && r.onlyMessage(messageRefused) && elapsed <= refusedWithin:
		return NotCreated
	default:
		return Unknown
	}
}

func success(status int) bool { return status >= 200 && status <= 299 }

package apiclient

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	readTries          = 3
	defaultReadBackoff = 200 * time.Millisecond
	// maxReadWait bounds every pause: somebody waits for the answer.
	maxReadWait = 5 * time.Second
)

// get makes a GET.
func (c *Client) get(ctx context.Context, op, path string) result {
	res, _ := c.repeat(ctx, call{op: op, method: http.MethodGet, path: path})
	return res
}

// repeat makes a call that does no harm when it is executed twice, and so repeats it a few times when the network or the
// server failed: every GET, PUT /webhooks (the same event gets the same record) and DELETE. Any other verb is sent once,
// whoever calls: a POST never comes here.
//
// mayHaveRun reports whether a try before the last one can have been executed: a 404 to a DELETE then means that it was.
func (c *Client) repeat(ctx context.Context, call call) (res result, mayHaveRun bool) {
	for try := 1; ; try++ {
		res = c.send(ctx, call)
		if c.once || try == readTries || !repeatable(call.method) || !worthRepeating(res) {
			return res, mayHaveRun
		}
		wait := c.readBackoff << (try - 1)
		wait += rand.N(wait + 1) // jitter: several programs must not come back in step
		wait = max(wait, res.askedWait)
		if wait > maxReadWait || !pause(ctx, wait) {
			return res, mayHaveRun
		}
		mayHaveRun = mayHaveRun || res.Known == Unknown
	}
}

func repeatable(method string) bool {
	return method == http.MethodGet || method == http.MethodPut || method == http.MethodDelete
}

// worthRepeating reports whether the same call may well succeed in a moment. A time-out is not repeated: it has already
// taken as long as the caller was ready to wait.
func worthRepeating(r result) bool {
	switch r.fault {
	case FaultNetwork:
		return true
	case FaultProtocol:
		return true
	case FaultNone:
		return r.Known == Throttled || r.Status >= 500 && r.Status != http.StatusNotImplemented
	default:
		return false
	}
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

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
	// maxReadWait bounds every pause: somebody waits for the answer of a GET.
	maxReadWait = 5 * time.Second
)

// get makes a GET, which is harmless, and so repeats it a few times when the network or the server failed. Never use it
// for anything else.
func (c *Client) get(ctx context.Context, op, path string) result {
	for try := 1; ; try++ {
		res := c.send(ctx, call{op: op, method: http.MethodGet, path: path})
		if try == readTries || !worthRepeating(res) {
			return res
		}
		wait := c.readBackoff << (try - 1)
		wait += rand.N(wait + 1) // jitter: several programs must not come back in step
		if res.Known == Throttled {
			wait = max(wait, res.RetryAfter)
		}
		if wait > maxReadWait || !pause(ctx, wait) {
			return res
		}
	}
}

// worthRepeating reports whether the same GET may well succeed in a moment. A time-out is not repeated: it has already
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

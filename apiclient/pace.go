package apiclient

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// slowest bounds how far the rate is reduced: to the share of this program, divided by slowest.
	slowest = 64
	// speedUpSteps is how many good answers raise the rate from zero to full.
	speedUpSteps = 32
)

// Pace is the rate limit of a client [api.rate_limit], over everything that it asks of the platform.
// A call that reads waits for its turn; whoever sends takes a turn (Take) before the intent of a
// request is stored. When the platform answers 429 or 503, the rate is halved, and good answers raise
// it again step by step. Its methods may be called by several goroutines.
type Pace struct {
	tokens *rate.Limiter // its limit moves between share/slowest and share

	// mu guards the fields below.
	mu    sync.Mutex
	full  rate.Limit // of all instances of the program; rate.Inf: no limit
	share rate.Limit // of this instance
	epoch int        // number of reductions; an answer to an earlier call proves nothing about the new pace
}

// NewPace returns a pace of so many requests per second, of which so many may leave at once; 0 means
// no limit.
func NewPace(perSecond float64, burst int) *Pace { //nolint:forbidigo // requests per second, no amount
	full := rate.Inf
	if perSecond > 0 {
		full = rate.Limit(perSecond)
		burst = min(burst, int(perSecond))
	}
	return &Pace{full: full, share: full, tokens: rate.NewLimiter(full, max(1, burst))}
}

// Limit returns how many requests per second may leave now; rate.Inf means any number.
func (p *Pace) Limit() rate.Limit { return p.tokens.Limit() }

// Share divides the rate among so many instances of the program.
func (p *Pace) Share(living int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full == rate.Inf {
		return
	}
	limit, reduced := p.tokens.Limit(), p.tokens.Limit() < p.share
	p.share = p.full / rate.Limit(max(1, living))
	if !reduced || limit > p.share {
		limit = p.share
	}
	p.tokens.SetLimit(limit)
}

// Allow takes a turn if there is one now.
func (p *Pace) Allow(now time.Time) bool { return p.tokens.AllowN(now, 1) }

// Delay returns how long it takes until there is a turn.
func (p *Pace) Delay() time.Duration {
	have, limit := p.tokens.Tokens(), p.tokens.Limit()
	if have >= 1 || limit == rate.Inf {
		return 0
	}
	return time.Duration((1 - rate.Limit(have)) / limit * rate.Limit(time.Second))
}

// begun returns the epoch of a call that begins now, for observe.
func (p *Pace) begun() (epoch int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epoch
}

// observe adapts the pace to an answer. Calls that were in flight together halve it once.
func (p *Pace) observe(epoch, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.tokens.Limit()
	switch {
	case limit == rate.Inf, epoch != p.epoch:
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		p.epoch++
		p.tokens.SetLimit(max(limit/2, p.share/slowest))
	case status >= 200 && status < 500 && limit < p.share:
		p.tokens.SetLimit(min(limit+p.share/speedUpSteps, p.share))
	}
}

// errTooLate is returned at once, and not at the deadline, for a wait that would outlast the
// caller's deadline.
var errTooLate = errors.New("the platform may be asked again only after the caller's deadline")

// waitTurn waits for a turn. It returns the context's error, errTooLate or errClosed.
func (c *Client) waitTurn(ctx context.Context) error {
	r := c.pace.tokens.Reserve()
	if err := c.pause(ctx, r.Delay()); err != nil {
		r.Cancel()
		return err
	}
	return nil
}

func (c *Client) pause(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return errTooLate
	}
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closing:
		return errClosed
	}
}

const (
	readTries          = 3
	defaultReadBackoff = 200 * time.Millisecond
	// maxReadWait bounds every pause, because somebody is waiting for the answer.
	maxReadWait = 5 * time.Second
)

// read makes a GET and parses the record in its answer.
func read[T any](ctx context.Context, c *Client, call call, parse func([]byte) (T, error)) (none T, err error) {
	call.method = http.MethodGet
	res, _ := c.repeat(ctx, call)
	if _, err := res.outcome(); err != nil {
		return none, err
	}
	record, err := parse(res.Body)
	if err != nil {
		return none, res.unusable(err)
	}
	return record, nil
}

// repeat makes a call that is harmless to execute twice, and repeats it a few times if the network
// or the server failed. This holds for every GET, for PUT /webhooks (the same event gets the same
// record) and for DELETE. A POST is always sent once.
//
// mayHaveRun reports whether an attempt before the last one may have been executed: a 404 to a
// DELETE then means that it was.
func (c *Client) repeat(ctx context.Context, call call) (res result, mayHaveRun bool) {
	for try := 1; ; try++ {
		res = c.send(ctx, call)
		// The same call is likely to succeed soon. A time-out is not repeated, because it has already taken
		// as long as the caller was ready to wait.
		busy := res.Known == Throttled || res.Status >= 500 && res.Status != http.StatusNotImplemented
		soon := res.fault == FaultNetwork || res.fault == FaultProtocol || res.fault == FaultNone && busy
		if c.once || try == readTries || call.method == http.MethodPost || !soon {
			return res, mayHaveRun
		}
		wait := c.readBackoff << (try - 1)
		wait += rand.N(wait + 1) // jitter: several programs must not repeat at the same moment
		wait = max(wait, res.askedWait)
		if wait > maxReadWait || c.pause(ctx, wait) != nil {
			return res, mayHaveRun
		}
		mayHaveRun = mayHaveRun || res.Known == Unknown
	}
}

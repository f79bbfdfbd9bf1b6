package apiclient

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// slowest bounds how far the rate is reduced: to full/slowest.
	slowest = 64
	// speedUpSteps is how many good answers raise the rate from zero to full.
	speedUpSteps = 32
)

// pacer is the rate limit and the in-flight limit of one client, shared by all its calls. When the
// platform answers 429 or 503, it halves the rate and the slots, and holds everything until the
// time that the platform named. Good answers speed it up again step by step. Without limits it does
// nothing.
//
// A call enters the pacer before it gets a connection, and so before the gate: however long it
// waits here, the send window is checked afterwards.
type pacer struct {
	full    rate.Limit    // 0: no rate limit
	tokens  *rate.Limiter // nil: no rate limit; its limit moves between full/slowest and full
	most    int           // 0: no in-flight limit
	closing <-chan struct{}

	// mu guards the fields below.
	mu       sync.Mutex
	allowed  int             // maximum number of slots in use; between 1 and most
	inFlight int             // slots in use
	queue    []chan struct{} // callers waiting for a slot, in order of arrival; closed when the slot is theirs
	until    time.Time       // nothing leaves before this time
	epoch    int             // number of reductions; an answer to an earlier call proves nothing about the new pace
	good     int             // good answers since allowed was last raised
}

// ticket is the right to make one call; leave returns it.
type ticket struct{ epoch int }

func newPacer(perSecond rate.Limit, inFlight int, closing <-chan struct{}) *pacer {
	p := &pacer{full: perSecond, most: inFlight, allowed: inFlight, closing: closing}
	if perSecond > 0 {
		p.tokens = rate.NewLimiter(perSecond, 1)
	}
	return p
}

func (p *pacer) off() bool { return p.tokens == nil && p.most == 0 }

// errTooLate is returned at once, and not at the deadline, for a wait that would outlast the
// caller's deadline.
var errTooLate = errors.New("the platform may be asked again only after the caller's deadline")

// enter waits until the call may be made. It returns the context's error, errTooLate or errClosed.
func (p *pacer) enter(ctx context.Context) (ticket, error) {
	if p.off() {
		return ticket{}, nil
	}
	if err := p.takeSlot(ctx); err != nil {
		return ticket{}, err
	}
	err := p.hold(ctx)
	if err == nil && p.tokens != nil {
		if err = p.takeToken(ctx); err == nil {
			err = p.hold(ctx) // another call may have been told to wait in the meantime
		}
	}
	if err != nil {
		p.giveSlot()
		return ticket{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return ticket{epoch: p.epoch}, nil
}

// leave returns the ticket and adapts the pace to the answer.
func (p *pacer) leave(t ticket, res result) {
	if p.off() {
		return
	}
	switch {
	case res.Status == http.StatusTooManyRequests || res.Status == http.StatusServiceUnavailable:
		p.slowDown(t, res.askedWait)
	case res.Status >= 200 && res.Status < 500:
		p.speedUp(t)
	}
	p.giveSlot()
}

func (p *pacer) takeSlot(ctx context.Context) error {
	if p.most == 0 {
		return nil
	}
	p.mu.Lock()
	if p.inFlight < p.allowed && len(p.queue) == 0 {
		p.inFlight++
		p.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	p.queue = append(p.queue, mine)
	p.mu.Unlock()

	var err error
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-p.closing:
		err = errClosed
	}
	p.mu.Lock()
	if i := slices.Index(p.queue, mine); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
		p.mu.Unlock()
		return err
	}
	p.mu.Unlock()
	p.giveSlot() // it was granted to us at the same moment
	return err
}

func (p *pacer) giveSlot() {
	if p.most == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	p.grant()
}

// grant assigns free slots to waiting callers. p.mu must be held.
func (p *pacer) grant() {
	for p.inFlight < p.allowed && len(p.queue) > 0 {
		p.inFlight++
		close(p.queue[0])
		p.queue = p.queue[1:]
	}
}

// hold waits until the time that the platform named.
func (p *pacer) hold(ctx context.Context) error {
	for {
		p.mu.Lock()
		wait := time.Until(p.until)
		p.mu.Unlock()
		if wait <= 0 {
			return nil
		}
		if err := p.wait(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *pacer) takeToken(ctx context.Context) error {
	r := p.tokens.Reserve()
	if err := p.wait(ctx, r.Delay()); err != nil {
		r.Cancel()
		return err
	}
	return nil
}

func (p *pacer) wait(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return errTooLate
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closing:
		return errClosed
	}
}

// slowDown halves the pace, once for all calls that were in flight together.
func (p *pacer) slowDown(t ticket, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(wait); until.After(p.until) {
		p.until = until
	}
	if t.epoch != p.epoch {
		return
	}
	p.epoch++
	p.good = 0
	p.allowed = max(p.allowed/2, min(1, p.most))
	if p.tokens != nil {
		p.tokens.SetLimit(max(p.tokens.Limit()/2, p.full/slowest))
	}
}

// speedUp takes one step back towards the full pace: a fixed part of the rate with each good
// answer, and one slot after as many good answers as there are slots.
func (p *pacer) speedUp(t ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.epoch != p.epoch {
		return
	}
	if p.tokens != nil && p.tokens.Limit() < p.full {
		p.tokens.SetLimit(min(p.tokens.Limit()+p.full/speedUpSteps, p.full))
	}
	if p.allowed < p.most {
		if p.good++; p.good >= p.allowed {
			p.good = 0
			p.allowed++
			p.grant()
		}
	}
}

const (
	readTries          = 3
	defaultReadBackoff = 200 * time.Millisecond
	// maxReadWait bounds every pause, because somebody is waiting for the answer.
	maxReadWait = 5 * time.Second
)

// read makes a GET and parses the record in its answer. If bad, the fault of the request, is not
// nil, nothing is sent.
func read[T any](ctx context.Context, c *Client, bad error, call call, parse func([]byte) (T, error)) (T, error) {
	var none T
	if bad != nil {
		_, err := unsent(FaultRequest, bad).outcome(call.op)
		return none, err
	}
	call.method = http.MethodGet
	res, _ := c.repeat(ctx, call)
	if _, err := res.outcome(call.op); err != nil {
		return none, err
	}
	record, err := parse(res.Body)
	if err != nil {
		return none, res.unusable(call.op, err)
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
		if c.once || try == readTries || call.method == http.MethodPost || !worthRepeating(res) {
			return res, mayHaveRun
		}
		wait := c.readBackoff << (try - 1)
		wait += rand.N(wait + 1) // jitter: several programs must not repeat at the same moment
		wait = max(wait, res.askedWait)
		if wait > maxReadWait || c.pacer.wait(ctx, wait) != nil {
			return res, mayHaveRun
		}
		mayHaveRun = mayHaveRun || res.Known == Unknown
	}
}

// worthRepeating reports whether the same call is likely to succeed soon. A time-out is not
// repeated, because it has already taken as long as the caller was ready to wait.
func worthRepeating(r result) bool {
	switch r.fault {
	case FaultNetwork, FaultProtocol:
		return true
	case FaultNone:
		return r.Known == Throttled || r.Status >= 500 && r.Status != http.StatusNotImplemented
	default:
		return false
	}
}

package sync

import (
	"context"
	gosync "sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/trade"
)

// joinWait is how long an instance that joins others waits before it sends: by then each of them has seen it, and takes a smaller share of the rate limit.
const joinWait = renewEvery + renewEvery/2

// crew is this instance among those that work on one ledger, and the pace of its passes.
type crew struct {
	several bool
	clock   Clock
	limits  Limits

	mu      gosync.Mutex
	keeper  *leaseKeeper // says that this instance lives; nil before it joined
	uses    int          // how often it has joined
	stand   trade.Crew
	known   bool            // the ledger has told it
	from    time.Duration   // Boot time from which it may send
	limiter *rate.Limiter   // of everything that sends now; nil when nothing does
	senders int             // that use it
	left    map[string]bool // jobs of which results were not stored
}

func newCrew(config Config) *crew {
	return &crew{
		several: config.Several, clock: config.Clock, limits: config.Limits, stand: trade.Crew{Living: 1}, left: map[string]bool{},
	}
}

// join says that this instance lives, until leave is called. A ledger that does not answer is asked again every 10 s. It must be called before anything sends.
func (e *Engine) join(ctx context.Context, command string) (leave func()) {
	c := e.crew
	if !c.several {
		return func() {}
	}
	asked := c.clock.Boot()
	in := trade.Instance{Owner: e.Owner, Version: e.Version, Command: command, Started: e.Clock.Now()}
	c.mu.Lock()
	c.uses++
	first := c.uses == 1
	c.mu.Unlock()
	if first {
		keeper := keepAlive(ctx, c.clock, asked, func(ctx context.Context) error {
			stand, err := e.Ledger.Beat(ctx, in)
			if err != nil {
				if ctx.Err() == nil {
					e.Log.Warn("the ledger was not told that this instance lives; other instances may take it for dead", zap.Error(err))
				}
				return err
			}
			c.stands(stand, asked)
			return nil
		})
		c.mu.Lock()
		c.keeper = keeper
		c.mu.Unlock()
	}
	return func() { e.leave(ctx) }
}

func (e *Engine) leave(ctx context.Context) {
	c := e.crew
	c.mu.Lock()
	c.uses--
	keeper, last := c.keeper, c.uses == 0
	if last {
		c.keeper, c.stand, c.known = nil, trade.Crew{Living: 1}, false
	}
	c.mu.Unlock()
	if !last {
		return
	}
	keeper.close()
	if err := e.Ledger.Depart(context.WithoutCancel(ctx), e.Owner.Instance); err != nil {
		e.Log.Warn("the ledger was not told that this instance ends; it finds out by itself", zap.Error(err))
	}
}

// stands takes up where this instance stands, and takes its share of the rate limit.
func (c *crew) stands(stand trade.Crew, asked time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known && stand.Living > 1 && c.limits.RateLimit > 0 {
		c.from = asked + joinWait
	}
	if c.limiter != nil && stand.Living != c.stand.Living && c.limiter.Limit() != rate.Inf {
		c.limiter.SetLimit(c.limits.share(stand.Living))
	}
	c.stand, c.known = stand, true
}

// wait is how long this instance must not send yet.
func (c *crew) wait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.from-c.clock.Boot())
}

// place is where this instance stands. As long as the ledger has not told it, it may not be alone.
func (c *crew) place() trade.Crew {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.several && !c.known {
		return trade.Crew{Living: 2}
	}
	return c.stand
}

// pace gives the limiter of everything that sends now; each call needs a rested.
func (c *crew) pace() *rate.Limiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limiter == nil {
		c.limiter = c.limits.limiter()
		if c.stand.Living > 1 && c.limiter.Limit() != rate.Inf {
			c.limiter.SetLimit(c.limits.share(c.stand.Living))
		}
	}
	c.senders++
	return c.limiter
}

func (c *crew) rested() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.senders--; c.senders == 0 {
		c.limiter = nil
	}
}

// share is what one of several instances may send in a second.
func (l Limits) share(living int) rate.Limit {
	return rate.Limit(l.RateLimit) / rate.Limit(max(1, living))
}

// full is the whole pace of this instance.
func (c *crew) full() rate.Limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits.share(c.stand.Living)
}

// lost notes that the ledger did not take results of a job: their rows are in doubt as soon as it can be told so.
func (c *crew) lost(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[job] = true
}

// hasLeft tells whether results of a job were not stored.
func (c *crew) hasLeft(job string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left[job]
}

func (c *crew) recovered(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.left, job)
}

// This instance among the others: its place, its part of the rate, who is alive.

package cluster

import (
	"context"
	gosync "sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// joinWait is how long an instance that joins others waits before it sends: by then each of them
// has seen it, and takes a smaller share of the rate limit.
const joinWait = RenewEvery + RenewEvery/2

// Member is this instance among those that work on one ledger, and the pace of its passes.
type Member struct {
	Config Config

	mu      gosync.Mutex
	keeper  *Keeper // says that this instance lives; nil before it joined
	uses    int     // how often it has joined
	Stand   trade.Crew
	Known   bool            // the ledger has told it
	from    time.Duration   // Boot time from which it may send
	limiter *rate.Limiter   // of everything that sends now; nil when nothing does
	senders int             // that use it
	left    map[string]bool // jobs of which results were not stored
}

// Config is what an instance tells of itself, and the pace that all of them share.
type Config struct {
	Several   bool // other instances may work on the ledger
	Clock     clock.Clock
	Ledger    Members
	Owner     trade.Owner
	Version   string
	Log       *zap.Logger
	PerSecond float64 //nolint:forbidigo // requests of all instances, no amount; 0 = no limit
	Burst     int
}

// Members is the part of the ledger in which instances say that they live.
type Members interface {
	// Beat says that an instance lives for another 30 s on the ledger's clock, and tells how many
	// do.
	// Depart says that it ends.
	Beat(ctx context.Context, instance trade.Instance) (trade.Crew, error)
	Depart(ctx context.Context, instance string) error
}

// NewMember makes a member that has not joined yet.
func NewMember(config Config) *Member {
	return &Member{Config: config, Stand: trade.Crew{Living: 1}, left: map[string]bool{}}
}

// Together reports whether other instances may work on the ledger.
func (c *Member) Together() bool { return c.Config.Several }

// Join says that this instance lives, until leave is called. A ledger that does not answer is asked
// again every 10 s. It must be called before anything sends.
func (c *Member) Join(ctx context.Context, command string) (leave func()) {
	if !c.Config.Several {
		return func() {}
	}
	asked := c.Config.Clock.Boot()
	in := trade.Instance{
		Owner: c.Config.Owner, Version: c.Config.Version, Command: command,
		Started: c.Config.Clock.Now(),
	}
	c.mu.Lock()
	c.uses++
	first := c.uses == 1
	c.mu.Unlock()
	if first {
		keeper := keepAlive(ctx, c.Config.Clock, asked, func(ctx context.Context) error {
			stand, err := c.Config.Ledger.Beat(ctx, in)
			if err != nil {
				if ctx.Err() == nil {
					c.Config.Log.Warn(
						"the ledger was not told that this instance lives; other instances may take it for dead",
						zap.Error(err))
				}
				return err
			}
			c.setPlace(stand, asked)
			return nil
		})
		c.mu.Lock()
		c.keeper = keeper
		c.mu.Unlock()
	}
	return func() { c.leave(ctx) }
}

func (c *Member) leave(ctx context.Context) {
	c.mu.Lock()
	c.uses--
	keeper, last := c.keeper, c.uses == 0
	if last {
		c.keeper, c.Stand, c.Known = nil, trade.Crew{Living: 1}, false
	}
	c.mu.Unlock()
	if !last {
		return
	}
	keeper.Close()
	if err := c.Config.Ledger.Depart(context.WithoutCancel(ctx), c.Config.Owner.Instance); err != nil {
		c.Config.Log.Warn("the ledger was not told that this instance ends; it finds out by itself", zap.Error(err))
	}
}

// setPlace takes up where this instance stands, and takes its share of the rate limit.
func (c *Member) setPlace(stand trade.Crew, asked time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.Known && stand.Living > 1 && c.Config.PerSecond > 0 {
		c.from = asked + joinWait
	}
	if c.limiter != nil && stand.Living != c.Stand.Living && c.limiter.Limit() != rate.Inf {
		c.limiter.SetLimit(c.Config.share(stand.Living))
	}
	c.Stand, c.Known = stand, true
}

// Wait is how long this instance must not send yet.
func (c *Member) Wait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.from-c.Config.Clock.Boot())
}

// Place is where this instance stands. As long as the ledger has not told it, it may not be alone.
func (c *Member) Place() trade.Crew {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Config.Several && !c.Known {
		return trade.Crew{Living: 2}
	}
	return c.Stand
}

// Pace returns the limiter of everything that sends now; each call needs a rested.
func (c *Member) Pace() *rate.Limiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limiter == nil {
		c.limiter = c.Config.Limiter()
		if c.Stand.Living > 1 && c.limiter.Limit() != rate.Inf {
			c.limiter.SetLimit(c.Config.share(c.Stand.Living))
		}
	}
	c.senders++
	return c.limiter
}

// Rested ends a use of the limiter that Pace returned.
func (c *Member) Rested() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.senders--; c.senders == 0 {
		c.limiter = nil
	}
}

// share is what one of several instances may send in a second.
func (c Config) share(living int) rate.Limit {
	return rate.Limit(c.PerSecond) / rate.Limit(max(1, living))
}

// Limiter is the pace of `api.rate_limit`.
func (c Config) Limiter() *rate.Limiter {
	if c.PerSecond <= 0 {
		return rate.NewLimiter(rate.Inf, 1)
	}
	return rate.NewLimiter(rate.Limit(c.PerSecond), max(1, min(c.Burst, int(c.PerSecond))))
}

// Full is the whole pace of this instance.
func (c *Member) Full() rate.Limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Config.share(c.Stand.Living)
}

// Lost notes that the ledger did not take results of a job: their rows are in doubt as soon as it
// can be told so.
func (c *Member) Lost(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[job] = true
}

// HasLeft reports whether results of a job were not stored.
func (c *Member) HasLeft(job string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left[job]
}

// Recovered forgets that results of a job were not stored.
func (c *Member) Recovered(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.left, job)
}

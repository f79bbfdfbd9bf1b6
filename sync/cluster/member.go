// This instance in the cluster: its heartbeat, the number of living instances, its share of the
// rate limit.

package cluster

import (
	"context"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// joinWait is how long an instance waits before it sends, after it joined others: by then each of
// them has seen it and has reduced its own share of the rate limit.
const joinWait = RenewEvery + RenewEvery/2

// Member is this instance in the cluster.
type Member struct {
	Config Config

	mu      gosync.Mutex
	keeper  *Keeper // sends the heartbeat; nil before it joined
	uses    int     // joins that have not left yet
	Cluster trade.Instances
	Known   bool            // Cluster was read from the ledger
	from    time.Duration   // Boot time from which it may send
	left    map[string]bool // jobs with results that were not stored
}

// Config describes this instance.
type Config struct {
	Several bool // other instances may work on the ledger
	Clock   clock.Clock
	Ledger  Members
	Owner   trade.Owner
	Version string
	Log     *zap.Logger
	Limited bool // there is a rate limit, for all instances together
	// Share divides the rate limit among so many instances.
	Share func(living int)
}

// Members is the part of the ledger that stores heartbeats.
type Members interface {
	// Beat stores that an instance lives for another 30 s on the ledger's clock, and returns how
	// many do. Depart stores that it ends.
	Beat(ctx context.Context, instance trade.Instance) (trade.Instances, error)
	Depart(ctx context.Context, instance string) error
}

// NewMember returns a member that has not joined yet.
func NewMember(config Config) *Member {
	return &Member{Config: config, Cluster: trade.Instances{Living: 1}, left: map[string]bool{}}
}

// Together reports whether other instances may work on the ledger.
func (c *Member) Together() bool { return c.Config.Several }

// Join sends heartbeats until leave is called. If the ledger does not answer, it tries again every
// 10 s. It must be called before anything sends.
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
		// a heartbeat every 10 s, the first one before Join returns
		keeper := newKeeper(c.Config.Clock, func(ctx context.Context) error {
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
		keeper.renewed.Store(int64(asked - trustLease))
		keeper.Renew(ctx)
		keeper.renew(ctx, nil)
		c.mu.Lock()
		c.keeper = keeper
		c.mu.Unlock()
	}
	return func() {
		c.mu.Lock()
		c.uses--
		keeper, last := c.keeper, c.uses == 0
		if last {
			c.keeper, c.Cluster, c.Known = nil, trade.Instances{Living: 1}, false
		}
		c.mu.Unlock()
		if !last {
			return
		}
		keeper.Close()
		c.Config.Share(1)
		if err := c.Config.Ledger.Depart(context.WithoutCancel(ctx), c.Config.Owner.Instance); err != nil {
			c.Config.Log.Warn("the ledger was not told that this instance ends; it finds out by itself", zap.Error(err))
		}
	}
}

// setPlace stores the cluster as the ledger reported it, and adjusts the share of the rate limit.
func (c *Member) setPlace(stand trade.Instances, asked time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.Known && stand.Living > 1 && c.Config.Limited {
		c.from = asked + joinWait
	}
	if stand.Living != c.Cluster.Living {
		c.Config.Share(stand.Living)
	}
	c.Cluster, c.Known = stand, true
}

// Wait returns for how long this instance must not send yet.
func (c *Member) Wait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.from-c.Config.Clock.Boot())
}

// Place returns how many instances live. Until the ledger has reported it, a member of a cluster
// assumes two.
func (c *Member) Place() trade.Instances {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Config.Several && !c.Known {
		return trade.Instances{Living: 2}
	}
	return c.Cluster
}

// MarkUnstored records that the ledger did not store results of a job; their rows are put in doubt as soon
// as the ledger answers.
func (c *Member) MarkUnstored(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[job] = true
}

// HasUnstored reports whether results of a job were not stored.
func (c *Member) HasUnstored(job string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left[job]
}

// Recovered records that the rows of those results are settled.
func (c *Member) Recovered(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.left, job)
}

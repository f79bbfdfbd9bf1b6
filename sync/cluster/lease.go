// The keeper of a lease: it renews it, and reports whether it is still certain (I12).

package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// A lease lasts 30 s on the ledger's clock, and so does the word of an instance that it lives. Both
// are renewed every 10 s, and their owner claims nothing more when 20 s have passed on its own
// clock since the last renewal, so that two owners never claim at once however slow the ledger
// answers (I12).
const (
	RenewEvery = 10 * time.Second
	trustLease = 20 * time.Second
)

// Leases is the part of the ledger that renews a lease.
type Leases interface {
	// RenewLease extends it by 30 s, or gives trade.ErrLeaseLost.
	RenewLease(ctx context.Context, lease trade.Lease) error
}

// Keeper renews one lease, or the word of an instance, until it is closed.
type Keeper struct {
	renewal func(context.Context) error // trade.ErrLeaseLost ends it
	clock   clock.Clock
	renewed atomic.Int64 // Boot time of the start of the last renewal that worked
	lost    atomic.Bool
	refused atomic.Pointer[error] // what the last renewal said
	cancel  context.CancelFunc
	done    chan struct{}
}

// Keep renews a lease that was asked for at the given Boot time: the 30 s count from then, however
// late the ledger answered. tend is called after each renewal.
func Keep(ctx context.Context, ledger Leases, lease trade.Lease, clock clock.Clock, asked time.Duration,
	tend func(context.Context),
) *Keeper {
	k := newKeeper(clock, func(ctx context.Context) error { return ledger.RenewLease(ctx, lease) })
	k.renewed.Store(int64(asked))
	k.keep(ctx, tend)
	return k
}

// keepAlive says every 10 s that an instance lives, for the first time before it returns.
func keepAlive(ctx context.Context, clock clock.Clock, asked time.Duration, beat func(context.Context) error) *Keeper {
	k := newKeeper(clock, beat)
	k.renewed.Store(int64(asked - trustLease))
	k.Renew(ctx)
	k.keep(ctx, nil)
	return k
}

func newKeeper(clock clock.Clock, renewal func(context.Context) error) *Keeper {
	return &Keeper{renewal: renewal, clock: clock, done: make(chan struct{})}
}

func (k *Keeper) keep(ctx context.Context, tend func(context.Context)) {
	ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(k.done)
		tick := time.NewTicker(RenewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if k.Renew(ctx); k.lost.Load() {
				return
			}
			if tend != nil && ctx.Err() == nil {
				tend(ctx)
			}
		}
	}()
}

// Renew asks for another 30 s and reports whether rows may be claimed.
func (k *Keeper) Renew(ctx context.Context) bool {
	start := k.clock.Boot()
	err := k.renewal(ctx)
	k.refused.Store(&err)
	switch {
	case err == nil:
		k.renewed.Store(int64(start))
	case errors.Is(err, trade.ErrLeaseLost):
		k.lost.Store(true)
	}
	return k.Trusted()
}

// Trusted reports whether rows may still be claimed.
func (k *Keeper) Trusted() bool {
	return !k.lost.Load() && k.clock.Boot()-time.Duration(k.renewed.Load()) < trustLease
}

// Why is what the ledger said to the last renewal; nil when it was renewed, or is another's.
func (k *Keeper) Why() error {
	if p := k.refused.Load(); p != nil && *p != nil && !errors.Is(*p, trade.ErrLeaseLost) {
		return *p
	}
	return nil
}

// Close ends the renewals and waits until none is on its way.
func (k *Keeper) Close() {
	k.cancel()
	<-k.done
}

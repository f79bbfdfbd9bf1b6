// The keeper of a lease: it renews the lease and reports whether it can still be trusted (I12).

package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// A lease, and the heartbeat of an instance, last 30 s on the ledger's clock. Both are renewed
// every 10 s. Their owner claims nothing more when 20 s have passed on its own clock since the last
// renewal, so that two owners never claim at once, however slowly the ledger answers (I12).
const (
	RenewEvery = 10 * time.Second
	trustLease = 20 * time.Second
)

// Leases is the part of the ledger that renews a lease.
type Leases interface {
	// RenewLease extends the lease by 30 s, or returns trade.ErrLeaseLost.
	RenewLease(ctx context.Context, lease trade.Lease) error
}

// Keeper renews one lease, or the heartbeat of an instance, until it is closed.
type Keeper struct {
	renewal func(context.Context) error // after trade.ErrLeaseLost it is not called again
	clock   clock.Clock
	renewed atomic.Int64 // Boot time of the start of the last successful renewal
	lost    atomic.Bool
	refused atomic.Pointer[error] // error of the last renewal
	cancel  context.CancelFunc
	done    chan struct{}
}

// StartRenewal renews a lease that was requested at the given Boot time: its 30 s count from then, however
// late the ledger answered. tend is called after each renewal.
func StartRenewal(ctx context.Context, ledger Leases, lease trade.Lease, clock clock.Clock, asked time.Duration,
	tend func(context.Context),
) *Keeper {
	k := newKeeper(clock, func(ctx context.Context) error { return ledger.RenewLease(ctx, lease) })
	k.renewed.Store(int64(asked))
	k.renew(ctx, tend)
	return k
}

func newKeeper(clock clock.Clock, renewal func(context.Context) error) *Keeper {
	return &Keeper{renewal: renewal, clock: clock, done: make(chan struct{})}
}

func (k *Keeper) renew(ctx context.Context, tend func(context.Context)) {
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
			k.Renew(ctx)
			if k.lost.Load() {
				return
			}
			if tend != nil && ctx.Err() == nil {
				tend(ctx)
			}
		}
	}()
}

// Renew requests another 30 s and reports whether rows may be claimed.
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

// Why returns the error of the last renewal; nil if it succeeded, or if another owner has the
// lease.
func (k *Keeper) Why() error {
	if p := k.refused.Load(); p != nil && *p != nil && !errors.Is(*p, trade.ErrLeaseLost) {
		return *p
	}
	return nil
}

// Close ends the renewals and waits until none is running.
func (k *Keeper) Close() {
	k.cancel()
	<-k.done
}

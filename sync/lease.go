package sync

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// A lease lasts 30 s on the ledger's clock. It is renewed every 10 s, and its owner claims nothing more when 20 s have passed on its own clock
// since the last renewal, so that two owners never claim at once however slow the ledger answers (I12).
const (
	renewEvery = 10 * time.Second
	trustLease = 20 * time.Second
)

// leaseKeeper renews one lease until it is closed.
type leaseKeeper struct {
	ledger  Ledger
	lease   trade.Lease
	clock   Clock
	renewed atomic.Int64 // Boot time of the start of the last renewal that worked
	lost    atomic.Bool
	cancel  context.CancelFunc
	done    chan struct{}
}

// keepLease renews a lease that was asked for at the given Boot time: the 30 s count from then, however late the ledger answered.
func keepLease(ctx context.Context, ledger Ledger, lease trade.Lease, clock Clock, asked time.Duration) *leaseKeeper {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k := &leaseKeeper{ledger: ledger, lease: lease, clock: clock, cancel: cancel, done: make(chan struct{})}
	k.renewed.Store(int64(asked))
	go func() {
		defer close(k.done)
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if k.renew(ctx); k.lost.Load() {
				return
			}
		}
	}()
	return k
}

// renew asks for another 30 s and tells whether the job may claim rows.
func (k *leaseKeeper) renew(ctx context.Context) bool {
	start := k.clock.Boot()
	switch err := k.ledger.RenewLease(ctx, k.lease); {
	case err == nil:
		k.renewed.Store(int64(start))
	case errors.Is(err, trade.ErrLeaseLost):
		k.lost.Store(true)
	}
	return k.trusted()
}

// trusted tells whether the job may still claim rows.
func (k *leaseKeeper) trusted() bool {
	return !k.lost.Load() && k.clock.Boot()-time.Duration(k.renewed.Load()) < trustLease
}

func (k *leaseKeeper) close() {
	k.cancel()
	<-k.done
}

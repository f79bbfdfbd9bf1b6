package receiver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/trade"
)

const (
	batchMost   = 200              // events of one transaction
	queueMost   = 4096             // events that wait for it
	stuckAfter  = time.Second      // from when on the ledger counts as busy, and events go to the spool at once
	drainEvery  = time.Second      // looks at the spool
	drainPause  = 10 * time.Second // the same, after the ledger refused
	ledgerLimit = 30 * time.Second
)

// keeper stores events durably: in the ledger, several in one flush; in the spool while the ledger
// does not take them.
type keeper struct {
	opts  Options
	spool *spool
	queue chan *keeping
	quit  chan struct{}
	work  sync.WaitGroup

	begun   atomic.Int64 // when the transaction on its way began, in milliseconds; 0 = none
	spooled atomic.Int64
}

// keeping is an event until it is stored.
type keeping struct {
	event trade.InboxEvent
	done  chan error // holds one
}

func newKeeper(opts Options, spool *spool) *keeper {
	k := &keeper{opts: opts, spool: spool, queue: make(chan *keeping, queueMost), quit: make(chan struct{})}
	k.work.Go(func() { inBatches(k.queue, k.quit, k.take) })
	k.work.Go(k.drain)
	return k
}

// keep returns when the event is on disk.
func (k *keeper) keep(event trade.InboxEvent) error {
	if k.stuck() {
		return k.toSpool(event)
	}
	one := &keeping{event: event, done: make(chan error, 1)}
	select {
	case k.queue <- one:
	default:
		return k.toSpool(event)
	}
	timer := time.NewTimer(storeTime)
	defer timer.Stop()
	select {
	case err := <-one.done:
		if err == nil {
			return nil
		}
		return k.toSpool(event)
	case <-timer.C: // it may be stored yet: the same event twice is one
		return k.toSpool(event)
	}
}

func (k *keeper) toSpool(event trade.InboxEvent) error {
	err := k.spool.add(event)
	if err == nil {
		k.spooled.Add(1)
	}
	return err
}

// stuck reports whether the ledger has been busy with the last events for long.
func (k *keeper) stuck() bool {
	begun := k.begun.Load()
	return begun != 0 && time.Since(time.UnixMilli(begun)) > stuckAfter
}

// inBatches writes what is in a queue, as much as there is, with one call after the other.
func inBatches(queue <-chan *keeping, quit <-chan struct{}, write func([]trade.InboxEvent) error) {
	for {
		var batch []*keeping
		select {
		case one := <-queue:
			batch = append(batch, one)
		case <-quit:
			return
		}
	fill:
		for len(batch) < batchMost {
			select {
			case one := <-queue:
				batch = append(batch, one)
			default:
				break fill
			}
		}
		events := make([]trade.InboxEvent, len(batch))
		for i, one := range batch {
			events[i] = one.event
		}
		err := write(events)
		for _, one := range batch {
			one.done <- err
		}
	}
}

func (k *keeper) take(events []trade.InboxEvent) error {
	k.begun.Store(time.Now().UnixMilli())
	defer k.begun.Store(0)
	err := k.give(events)
	if err != nil {
		k.opts.Fault("the ledger does not take events: they go to the spool", err)
	}
	return err
}

// give brings events to the ledger.
func (k *keeper) give(events []trade.InboxEvent) error {
	ctx, cancel := context.WithTimeout(context.Background(), ledgerLimit)
	defer cancel()
	err := k.opts.Inbox.TakeEvents(ctx, events)
	if err == nil {
		k.opts.Stored()
	}
	return err
}

// drain brings what is in the spool to the ledger, at the start and as soon as the ledger takes it.
func (k *keeper) drain() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-k.quit:
			return
		}
		wait := drainEvery
		if err := k.spool.drain(k.bring); err != nil {
			k.opts.Fault("what is in the spool could not be brought to the ledger yet", err)
			wait = drainPause
		}
		timer.Reset(wait)
	}
}

var errClosing = errors.New("the service is ending; the rest stays in the spool")

func (k *keeper) bring(events []trade.InboxEvent) error {
	select {
	case <-k.quit:
		return errClosing
	default:
	}
	return k.give(events)
}

// close ends the work; nobody may call keep any more.
func (k *keeper) close() error {
	close(k.quit)
	k.work.Wait()
	return k.spool.close()
}

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
	batchMost   = 200              // events per transaction
	queueMost   = 4096             // events waiting for a transaction
	stuckAfter  = time.Second      // age of a transaction from which the ledger is busy, and events go to the spool
	drainEvery  = time.Second      // interval between checks of the spool
	drainPause  = 10 * time.Second // likewise, after the ledger refused events
	ledgerLimit = 30 * time.Second
)

// keeper stores events durably: in the ledger, several per flush, or in the spool while the ledger
// does not accept them.
type keeper struct {
	opts  Options
	spool *spool
	queue chan *pendingEvent
	quit  chan struct{}
	work  sync.WaitGroup

	begun   atomic.Int64 // when the current transaction began, in Unix milliseconds; 0: none
	spooled atomic.Int64
}

// pendingEvent is an event that is not stored yet.
type pendingEvent struct {
	event trade.InboxEvent
	done  chan error // has room for one result
}

func newKeeper(opts Options, spool *spool) *keeper {
	k := &keeper{opts: opts, spool: spool, queue: make(chan *pendingEvent, queueMost), quit: make(chan struct{})}
	k.work.Go(func() { inBatches(k.queue, k.quit, k.take) })
	k.work.Go(k.drain)
	return k
}

// keep stores an event; it returns when the event is on disk.
func (k *keeper) keep(event trade.InboxEvent) error {
	if k.stuck() {
		return k.toSpool(event)
	}
	one := &pendingEvent{event: event, done: make(chan error, 1)}
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
	case <-timer.C: // it may still be stored in the ledger; the same event twice counts once
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

// stuck reports whether the current transaction has lasted longer than stuckAfter.
func (k *keeper) stuck() bool {
	begun := k.begun.Load()
	return begun != 0 && time.Since(time.UnixMilli(begun)) > stuckAfter
}

// inBatches writes the events of a queue in batches, one call of write after the other.
func inBatches(queue <-chan *pendingEvent, quit <-chan struct{}, write func([]trade.InboxEvent) error) {
	for {
		var batch []*pendingEvent
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
	err := k.store(events)
	if err != nil {
		k.opts.Fault("the ledger does not take events: they go to the spool", err)
	}
	return err
}

// store stores events in the ledger.
func (k *keeper) store(events []trade.InboxEvent) error {
	ctx, cancel := context.WithTimeout(context.Background(), ledgerLimit)
	defer cancel()
	err := k.opts.Inbox.TakeEvents(ctx, events)
	if err == nil {
		k.opts.Stored()
	}
	return err
}

// drain moves the events in the spool to the ledger, at the start and as soon as the ledger accepts
// them.
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
	return k.store(events)
}

// close ends the work. keep must not be called after it.
func (k *keeper) close() error {
	close(k.quit)
	k.work.Wait()
	return k.spool.close()
}

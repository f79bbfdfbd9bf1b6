package receiver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

const (
	batchMost = 200  // events per transaction
	queueMost = 4096 // events waiting for a transaction
)

// keeper stores events durably in the ledger, several per flush.
type keeper struct {
	opts Setup
	wake chan struct{} // has room for one: events wait
	quit chan struct{}
	work sync.WaitGroup

	mu      sync.Mutex
	waiting []*pendingEvent // oldest first
	storing bool
	ill     bool // what came last was not stored in time: only one event at a time is tried
}

// pendingEvent is an event that is not stored yet.
type pendingEvent struct {
	event trade.InboxEvent
	done  chan error // has room for one result
}

func newKeeper(opts Setup) *keeper {
	k := &keeper{opts: opts, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	k.work.Go(k.inBatches)
	return k
}

var (
	errSlow    = errors.New("the ledger takes too long")
	errFull    = errors.New("too many events wait for the ledger")
	errIll     = errors.New("the ledger did not store the events before it in time")
	errClosing = errors.New("the service is ending")
)

// store stores an event; it returns when the event is on disk. After an error it may be stored
// nevertheless: the same event twice counts once.
func (k *keeper) store(event trade.InboxEvent) error {
	one := &pendingEvent{event: event, done: make(chan error, 1)}
	if err := k.enter(one); err != nil {
		return err
	}
	select {
	case err := <-one.done:
		return err
	case <-time.After(storeTime):
		k.mu.Lock()
		defer k.mu.Unlock()
		k.waiting = slices.DeleteFunc(k.waiting, func(p *pendingEvent) bool { return p == one })
		k.ill = true
		return errSlow
	case <-k.quit:
		return errClosing
	}
}

// enter lets an event wait for its batch. While the ledger is ill, only one event may.
func (k *keeper) enter(one *pendingEvent) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.ill && (k.storing || len(k.waiting) > 0):
		return errIll
	case len(k.waiting) == queueMost:
		return errFull
	}
	k.waiting = append(k.waiting, one)
	k.signal()
	return nil
}

// signal wakes inBatches, if it sleeps.
func (k *keeper) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// inBatches stores the events that wait in batches, one transaction after the other.
func (k *keeper) inBatches() {
	for {
		select {
		case <-k.wake:
		case <-k.quit:
			return
		}
		batch := k.next()
		if len(batch) == 0 {
			continue // they were given up
		}
		events := trade.Map(batch, func(one *pendingEvent) trade.InboxEvent { return one.event })
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), storeTime)
		err := k.opts.Inbox.StoreEvents(ctx, events)
		cancel()
		if err == nil {
			k.opts.Stored()
		}
		k.mu.Lock()
		k.storing = false
		// An event may wait for the batch before its own.
		k.ill = err != nil || time.Since(began) > storeTime/2
		k.mu.Unlock()
		for _, one := range batch {
			one.done <- err
		}
	}
}

// next takes the events of the next batch.
func (k *keeper) next() []*pendingEvent {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(k.waiting), batchMost)
	batch := slices.Clone(k.waiting[:n])
	k.waiting = slices.Delete(k.waiting, 0, n)
	k.storing = n > 0
	if len(k.waiting) > 0 {
		k.signal()
	}
	return batch
}

// close ends the work. keep must not be called after it.
func (k *keeper) close() {
	close(k.quit)
	k.work.Wait()
}

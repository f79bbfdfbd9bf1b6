package receiver

import (
	"context"
	"errors"
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
	opts  Options
	queue chan *pendingEvent
	quit  chan struct{}
	work  sync.WaitGroup
}

// pendingEvent is an event that is not stored yet.
type pendingEvent struct {
	event trade.InboxEvent
	done  chan error // has room for one result
}

func newKeeper(opts Options) *keeper {
	k := &keeper{opts: opts, queue: make(chan *pendingEvent, queueMost), quit: make(chan struct{})}
	k.work.Go(k.inBatches)
	return k
}

var (
	errSlow    = errors.New("the ledger takes too long")
	errFull    = errors.New("too many events wait for the ledger")
	errClosing = errors.New("the service is ending")
)

// keep stores an event; it returns when the event is on disk. After an error it may be stored
// nevertheless: the same event twice counts once.
func (k *keeper) keep(event trade.InboxEvent) error {
	one := &pendingEvent{event: event, done: make(chan error, 1)}
	select {
	case k.queue <- one:
	default:
		return errFull
	}
	timer := time.NewTimer(storeTime)
	defer timer.Stop()
	select {
	case err := <-one.done:
		return err
	case <-timer.C:
		return errSlow
	case <-k.quit:
		return errClosing
	}
}

// inBatches stores the events of the queue in batches, one transaction after the other.
func (k *keeper) inBatches() {
	for {
		var batch []*pendingEvent
		select {
		case one := <-k.queue:
			batch = append(batch, one)
		case <-k.quit:
			return
		}
	fill:
		for len(batch) < batchMost {
			select {
			case one := <-k.queue:
				batch = append(batch, one)
			default:
				break fill
			}
		}
		events := make([]trade.InboxEvent, len(batch))
		for i, one := range batch {
			events[i] = one.event
		}
		err := k.store(events)
		for _, one := range batch {
			one.done <- err
		}
	}
}

// store stores events in the ledger.
func (k *keeper) store(events []trade.InboxEvent) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	err := k.opts.Inbox.TakeEvents(ctx, events)
	if err == nil {
		k.opts.Stored()
	}
	return err
}

// close ends the work. keep must not be called after it.
func (k *keeper) close() {
	close(k.quit)
	k.work.Wait()
}

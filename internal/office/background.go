// Work in the background, which ends with the generation.

package office

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
)

// work is an answer that is made in the background, for all who ask for it.
type work[T any] struct {
	done     chan struct{} // closed when it has ended
	answer   T             // once done is closed
	err      error
	canceled bool // it was given up, or ended with the generation
	cancel   context.CancelFunc
	lapse    *time.Timer // gives it up when nobody asks for it any more; nil: it is never given up
}

// begin begins work; nil if the generation is ending. It calls end with the lock before others see the
// answer. The caller must hold the lock, until after lapses if end uses lapse. failed is what the log
// says of an error; "": nothing.
func begin[T any](o *Office, failed string, do func(context.Context) (T, error), end func(*work[T])) *work[T] {
	if o.ended {
		return nil
	}
	ctx, cancel := context.WithCancel(o.ending)
	w := &work[T]{done: make(chan struct{}), cancel: cancel}
	o.working.Go(func() {
		defer cancel()
		w.answer, w.err = do(ctx)
		if failed != "" && w.err != nil && o.ending.Err() == nil { // the generation has not ended it
			o.log.Warn(failed, zap.Error(w.err))
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		w.canceled = ctx.Err() != nil
		end(w)
		close(w.done)
	})
	return w
}

// lapses gives the work up, and calls forget with the lock, unless lapse is set to another time within
// reportLapses: when somebody asks for it again, or when it has ended and is kept.
func (w *work[T]) lapses(o *Office, forget func()) {
	w.lapse = time.AfterFunc(reportLapses, func() {
		w.cancel()
		o.mu.Lock()
		defer o.mu.Unlock()
		forget()
	})
}

// over reports whether the work has ended.
func (w *work[T]) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// wait waits until the work has ended, at most for patience, and reports whether it has.
func (w *work[T]) wait(ctx context.Context, patience time.Duration) (over bool, err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-w.done:
		return true, nil
	case <-late.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// inBackground runs fn in the background until the generation ends. It returns false if the
// generation is already ending.
func (o *Office) inBackground(fn func(context.Context)) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return false
	}
	o.working.Go(func() { fn(o.ending) })
	return true
}

// feedEvery is how often a Feeder says that changes are wanted in order.
const feedEvery = time.Minute

// Feeder keeps the changes of rows in order while a program may ask for them, and ends that when the
// configuration has no such program any more.
type Feeder struct {
	store  *state.Store
	wanted bool
	log    *zap.Logger
}

// NewFeeder returns the feeder of a configuration.
func NewFeeder(conf *config.Config, store *state.Store, log *zap.Logger) Feeder {
	return Feeder{store: store, wanted: conf.HTTPAPI.ServesRows(), log: log}
}

// Begin says in the ledger whether changes are kept in order from now on. It must be called before
// anything changes rows.
func (f Feeder) Begin(ctx context.Context) {
	if err := f.store.Feed(ctx, f.wanted); err != nil && ctx.Err() == nil {
		f.log.Error("the ledger does not know yet whether changes are kept in order; tried again each minute", zap.Error(err))
	}
}

// Run says it again until ctx ends. An error is logged, and only if it is another than the last one.
func (f Feeder) Run(ctx context.Context) {
	tick := time.NewTicker(feedEvery)
	defer tick.Stop()
	said := ""
	for {
		text := ""
		if err := f.store.Feed(ctx, f.wanted); err != nil && ctx.Err() == nil {
			text = err.Error()
			if text != said {
				f.log.Error("the order of changes: the ledger cannot be used", zap.Error(err))
			}
		}
		said = text
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

package office

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
)

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

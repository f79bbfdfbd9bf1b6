package state

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// endsAt is a context that ends when it is asked for the last time that is left.
type endsAt struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *endsAt) ask() {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
}

func (c *endsAt) Done() <-chan struct{} { c.ask(); return c.Context.Done() }
func (c *endsAt) Err() error            { c.ask(); return c.Context.Err() }

// Who gives up while the ledger's health is looked at is told that, at whatever moment; nothing
// counts as damaged because of it.
func TestALookAtTheHealthThatIsGivenUp(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	for asked := int64(1); ; asked++ {
		ctx, cancel := context.WithCancel(t.Context())
		ends := &endsAt{Context: ctx, cancel: cancel}
		ends.left.Store(asked)
		findings, err := s.Health(ends)
		ended := ctx.Err() != nil
		cancel()
		for _, f := range findings {
			if f.Name == "quick_check" && !f.OK {
				t.Errorf("given up at moment %d: %+v", asked, f)
			}
		}
		switch {
		case err != nil && (!ended || !errors.Is(err, context.Canceled)):
			t.Errorf("given up at moment %d: %v", asked, err)
		case !ended:
			return
		}
	}
}

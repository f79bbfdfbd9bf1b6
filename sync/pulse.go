package sync

import (
	"sync/atomic"
	"time"
)

// pulse is when the engine last got on.
type pulse struct {
	clock Clock
	at    atomic.Int64 // Boot time
}

func (p *pulse) beat() { p.at.Store(int64(p.clock.Boot())) }

// silent is how long nothing has happened.
func (p *pulse) silent() time.Duration { return p.clock.Boot() - time.Duration(p.at.Load()) }

// watch makes an engine whose progress is felt.
func (p *pulse) watch(e *Engine) *Engine {
	config := e.Config
	config.Observe = func(progress Progress) {
		p.beat()
		e.Observe(progress)
	}
	return New(config)
}

// How long a pass has made no progress, for the watchdog.

package sync

import (
	"sync/atomic"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/run"
)

// progressClock records when the engine last made progress.
type progressClock struct {
	clock clock.Clock
	at    atomic.Int64 // Boot time
}

func (p *progressClock) note() { p.at.Store(int64(p.clock.Boot())) }

// watch returns an engine with the same configuration that records its progress here.
func (p *progressClock) watch(e *Engine) *Engine {
	config := e.EngineParts
	config.Observe = func(progress run.Progress) {
		p.note()
		e.Observe(progress)
	}
	return New(config)
}

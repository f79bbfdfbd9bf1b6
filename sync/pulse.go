package sync

import (
	"sync/atomic"
	"time"
)

// pulse is when the engine last got on.
type pulse struct{ at atomic.Int64 } // of the process's own clock, which rests while the machine sleeps

var processStart = time.Now()

func (p *pulse) beat() { p.at.Store(int64(time.Since(processStart))) }

// silent is how long nothing has happened.
func (p *pulse) silent() time.Duration { return time.Since(processStart) - time.Duration(p.at.Load()) }

// watch makes an engine whose progress is felt.
func (p *pulse) watch(e *Engine) *Engine {
	config := e.Config
	config.Observe = func(progress Progress) {
		p.beat()
		e.Observe(progress)
	}
	return New(config)
}

// How long a pass has made no progress, for the watchdog.

package sync

import (
	"sync/atomic"

	"github.com/safrasync/safrasync/sync/clock"
)

// progressClock records when the engine last made progress.
type progressClock struct {
	clock clock.Clock
	at    atomic.Int64 // Boot time
}

func (p *progressClock) note() { p.at.Store(int64(p.clock.Boot())) }

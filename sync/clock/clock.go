// The clocks of the engine.

package clock

import (
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
)

// Clock has the wall clock and the boot clock. Boot counts from an arbitrary start and goes on
// while the machine is suspended, which Go's own monotonic clock does not (I13).
type Clock interface {
	Now() time.Time
	Boot() time.Duration
}

// SystemClock reads the machine's clocks.
type SystemClock struct{}

// Now returns the wall clock, in UTC.
func (SystemClock) Now() time.Time { return time.Now().Add(failpoint.Skew()).UTC() }

// Boot returns the time since the machine was started, with the time for which it was suspended.
func (SystemClock) Boot() time.Duration { return sinceBoot() }

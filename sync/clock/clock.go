// The clocks of the engine.

package clock

import (
	"time"

	"golang.org/x/sys/unix"

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

// Boot returns CLOCK_BOOTTIME.
func (SystemClock) Boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// A clock that never moves would keep every send window open, so refuse to run.
		panic("sync: CLOCK_BOOTTIME cannot be read: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns CLOCK_BOOTTIME.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// A clock that never moves would keep every send window open, so refuse to run.
		panic("sync: CLOCK_BOOTTIME cannot be read: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

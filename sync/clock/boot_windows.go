package clock

import (
	"time"

	"golang.org/x/sys/windows"
)

// sinceBoot returns the count of ticks, which goes on while the machine sleeps.
func sinceBoot() time.Duration { return windows.DurationSinceBoot() }

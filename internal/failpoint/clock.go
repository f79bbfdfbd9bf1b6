//go:build failpoint

package failpoint

import (
	"os"
	"sync"
	"time"
)

// Clock is the variable by which tests set the wall clock of one process: a duration such as -90m.
const Clock = "SAFRASYNC_FAILPOINT_CLOCK"

var skew = sync.OnceValue(func() time.Duration {
	d, err := time.ParseDuration(os.Getenv(Clock))
	if err != nil {
		return 0
	}
	return d
})

// Skew is how far this process's wall clock is from the machine's.
func Skew() time.Duration { return skew() }

//go:build failpoint

package failpoint

import (
	"os"
	"sync"
	"time"
)

// Clock is the environment variable with which tests shift the wall clock of one process, by a
// duration such as -90m.
const Clock = "SAFRASYNC_FAILPOINT_CLOCK"

var skew = sync.OnceValue(func() time.Duration {
	d, err := time.ParseDuration(os.Getenv(Clock))
	if err != nil {
		return 0
	}
	return d
})

// Skew returns the difference between this process's wall clock and the machine's.
func Skew() time.Duration { return skew() }

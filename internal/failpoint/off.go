//go:build !failpoint

package failpoint

import "time"

// Hit does nothing in a program that is not built for tests.
func Hit(string) error { return nil }

// Skew returns 0: the wall clock is the machine's.
func Skew() time.Duration { return 0 }

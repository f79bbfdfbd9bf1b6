//go:build !unix

package sandbox

import "os"

// lockFile does nothing where there is no advisory lock: one sandbox at a time is then the caller's
// affair.
func lockFile(*os.File) error { return nil }

//go:build !unix

package sandbox

import "os"

// lockFile does nothing on systems without advisory locks; the caller must run one sandbox at a
// time.
func lockFile(*os.File) error { return nil }

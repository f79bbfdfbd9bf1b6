//go:build !unix || solaris || illumos || aix

package marks

import (
	"errors"
	"os"
)

// hold fails on systems without flock: there no process is known to have ended.
func hold(*os.File) error { return errors.ErrUnsupported }

func look(*os.File) error { return errors.ErrUnsupported }

func number(*os.File) uint64 { return 0 }

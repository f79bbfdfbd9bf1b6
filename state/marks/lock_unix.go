//go:build unix && !solaris && !illumos && !aix

package marks

import (
	"os"
	"syscall"
)

// hold locks the file until the process ends: that is how others see that it has, also from another container of the same host.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

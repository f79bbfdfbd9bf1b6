//go:build unix && !solaris && !illumos && !aix

package marks

import (
	"os"
	"syscall"
)

// look asks whether nobody holds the file any more. Any number may look at once.
func look(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) }

// number is the file's own, which no copy of it has; 0 when the system does not say.
func number(f *os.File) uint64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// hold locks the file until the process ends: that is how others see that it has, also from another
// container of the same host.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

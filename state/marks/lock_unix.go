//go:build unix && !solaris && !illumos && !aix

package marks

import (
	"os"
	"syscall"
)

// look returns an error while a process holds the file. Any number of processes may call it at
// once.
func look(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) }

// number returns the inode number of the file, which no copy of it has, or 0 if it is unknown.
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

// hold locks the file until the process ends. By that other processes see that it has ended, even
// from another container of the same host.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks the file against other sandboxes until it is closed or the process ends.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another sandbox uses it; end that one, or name another file")
	}
	return err
}

//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// lockFile keeps other sandboxes away from the file until it is closed, or its process dies.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another sandbox uses it; end that one, or name another file")
	}
	return err
}

//go:build unix && !solaris && !illumos && !aix

package journal

import (
	"errors"
	"os"
	"syscall"

	"github.com/safrasync/safrasync/internal/phrase"
)

// lockFile locks a file; held means that another process has it.
func lockFile(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR), err
}

// SyncFolder makes the directory entries of a folder durable.
func SyncFolder(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer phrase.Join(&err, d.Close)
	return d.Sync()
}

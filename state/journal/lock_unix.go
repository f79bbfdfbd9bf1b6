//go:build unix && !solaris && !illumos && !aix

package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// TryLock locks a file for this process, made when it is not there, and writes the process's number
// into it. The lock goes away with the process. When another has it, the error is *HeldError.
func TryLock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return nil, errors.Join(&HeldError{Path: path, PID: holder(f)}, f.Close())
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%-10d\n", os.Getpid()), 0); err != nil && !isFull(err) {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// holder is the process that wrote its number into the lock last.
func holder(f *os.File) string {
	text := make([]byte, 10)
	n, err := f.ReadAt(text, 0)
	if pid := strings.TrimSpace(string(text[:n])); pid != "" && (err == nil || errors.Is(err, io.EOF)) {
		return pid
	}
	return "?"
}

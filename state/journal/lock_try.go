//go:build (unix && !solaris && !illumos && !aix) || windows

package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// TryLock locks a file for this process, creates it if necessary, and writes the process id into
// it. The lock ends with the process. If another process holds it, TryLock returns *HeldError.
func TryLock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	switch held, err := lockFile(f); {
	case held:
		return nil, errors.Join(&HeldError{Path: path, PID: holder(f)}, f.Close())
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%-10d\n", os.Getpid()), 0); err != nil && !isFull(err) {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// holder returns the process id that was last written to the lock.
func holder(f *os.File) string {
	text := make([]byte, 10)
	n, err := f.ReadAt(text, 0)
	if pid := strings.TrimSpace(string(text[:n])); pid != "" && (err == nil || errors.Is(err, io.EOF)) {
		return pid
	}
	return "?"
}

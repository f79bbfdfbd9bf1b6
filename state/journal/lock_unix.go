//go:build unix && !solaris && !illumos && !aix

package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// lockWait is how long a process waits for another that writes the same journal; a record takes milliseconds.
const lockWait = 5 * time.Second

// lock keeps other processes from writing the journal. The lock goes away with the process that holds it.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	for until := time.Now().Add(lockWait); ; time.Sleep(2 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) || time.Now().After(until) {
			return nil, errors.Join(fmt.Errorf("journal: process %s writes %s and does not end: wait for it, or end it (%w)", holder(f), path, err), f.Close())
		}
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%-10d\n", os.Getpid()), 0); err != nil && !isFull(err) {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), f.Close())
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

package journal

import (
	"errors"
	"fmt"
	"time"
)

// lockWait is how long a process waits for another that writes the same journal; a record takes
// milliseconds.
const lockWait = 5 * time.Second

// HeldError says that another process has a lock.
type HeldError struct {
	Path string
	PID  string // of the process; "?" when it did not say
}

// Error names the process.
func (e *HeldError) Error() string { return fmt.Sprintf("process %s has %s locked", e.PID, e.Path) }

// lock keeps other processes from writing the journal.
func lock(path string) (unlock func() error, err error) {
	for until := time.Now().Add(lockWait); ; time.Sleep(2 * time.Millisecond) {
		var held *HeldError
		unlock, err = TryLock(path)
		switch {
		case err == nil:
			return unlock, nil
		case !errors.As(err, &held):
			return nil, fmt.Errorf("journal: %w", err)
		case time.Now().After(until):
			return nil, fmt.Errorf("journal: %w and does not end: wait for it, or end it", err)
		}
	}
}

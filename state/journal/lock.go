package journal

import (
	"errors"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// lockWait is how long a process waits for another that writes to the same journal. Writing a
// record takes milliseconds.
const lockWait = 5 * time.Second

// HeldError is returned if another process holds a lock.
type HeldError struct {
	Path string
	PID  string // its process id; "?" if unknown
}

// Error returns the process and the path.
func (e *HeldError) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *HeldError) Phrase() *phrase.Text {
	return phrase.New("process %s has %s locked", e.PID, e.Path)
}

// lock locks the journal against writing by other processes. It waits for at most lockWait.
func lock(path string) (unlock func() error, err error) {
	for until := time.Now().Add(lockWait); ; time.Sleep(2 * time.Millisecond) {
		var held *HeldError
		unlock, err = TryLock(path)
		switch {
		case err == nil:
			return unlock, nil
		case !errors.As(err, &held):
			return nil, phrase.Errorf("journal: %w", err)
		case time.Now().After(until):
			return nil, phrase.Errorf("journal: %w and does not end: wait for it, or end it", err)
		}
	}
}

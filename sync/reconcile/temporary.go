package reconcile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// temporaryName is the pattern of the names of a report's temporary files.
const temporaryName = "safrasync-report-*.tmp"

// What went wrong with a temporary file.
const (
	temporaryMake  = "make a temporary file for the report: %w"
	temporaryRead  = "read a temporary file of the report: %w"
	temporaryWrite = "write a temporary file of the report: %w"
)

// temporary makes a file that nobody else can read. It goes with [discard], and where the system allows it, by itself when the process dies.
func temporary(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, temporaryName) // mode 0600
	if err != nil {
		return nil, fmt.Errorf(temporaryMake, err)
	}
	_ = os.Remove(f.Name()) // where that cannot be, discard removes it
	return f, nil
}

// discard closes and removes a temporary file; nil is none.
func discard(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(f.Close(), removed(f.Name()))
}

// removed removes a file that may be gone already.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

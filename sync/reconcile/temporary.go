package reconcile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// temporary makes a file that nobody else can read. It goes with [discard], and where the system allows it, by itself when the process dies.
func temporary(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, "safrasync-report-*.tmp") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("make a temporary file for the report: %w", err)
	}
	_ = os.Remove(f.Name()) // where that cannot be, discard removes it
	return f, nil
}

// discard closes and removes a temporary file; nil is none.
func discard(f *os.File) error {
	if f == nil {
		return nil
	}
	err := f.Close()
	if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

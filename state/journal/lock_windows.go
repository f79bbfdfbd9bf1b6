package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file; held means that another process has it. What is locked lies far behind the
// process id, because others cannot read what is locked here.
func lockFile(f *os.File) (held bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING), err
}

// SyncFolder does nothing: NTFS writes the entries of a folder through its own journal, and a file that is
// flushed (FlushFileBuffers) takes its entry with it.
func SyncFolder(string) error { return nil }

//go:build (!unix && !windows) || solaris || illumos || aix

package journal

// TryLock does nothing on systems without flock: there the write lock of the ledger is the only
// one.
func TryLock(string) (unlock func() error, err error) { return func() error { return nil }, nil }

// SyncFolder does nothing, as nothing is known of how such a system keeps the entries of a folder.
func SyncFolder(string) error { return nil }

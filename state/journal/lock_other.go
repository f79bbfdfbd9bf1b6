//go:build !unix || solaris || illumos || aix

package journal

// TryLock does nothing where the system has no flock: there, the write lock of the ledger is the
// only one.
func TryLock(string) (unlock func() error, err error) { return func() error { return nil }, nil }

//go:build !linux

package dialect

import "syscall"

// limitUnacknowledged does nothing here: the deadline of each read still ends a silent connection,
// only later.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }

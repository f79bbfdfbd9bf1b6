//go:build !linux

package dialect

import "syscall"

// limitUnacknowledged does nothing here: the per-read deadline still ends a
// silent connection, only later.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }

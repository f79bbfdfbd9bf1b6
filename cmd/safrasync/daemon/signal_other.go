//go:build !unix

package daemon

import (
	"errors"
	"syscall"
)

// signalTo reports that no process is there: the service runs on Linux only.
func signalTo(int, syscall.Signal) error { return errors.ErrUnsupported }

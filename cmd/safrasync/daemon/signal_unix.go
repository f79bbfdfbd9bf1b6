//go:build unix

package daemon

import "syscall"

func signalTo(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }

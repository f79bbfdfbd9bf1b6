//go:build !linux

package state

import (
	"os"
	"syscall"
)

// hostIdentity knows the host only: without a boot id, a process is never proved to be gone, and leases end by time.
func hostIdentity() (host, boot, pidSpace string) {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return host, "", ""
}

func machineID() string { return "" }

func processStart(int) (started string, running bool) { return "", true }

func holders(string) string { return "" }

func openIn(string) []string { return nil }

func mayWrite(string) error { return nil }

func fileSystemType(string) (int64, bool) { return 0, false }

func ours(os.FileInfo) bool { return false }

func ownerOf(string) (name string, other bool) { return "", false }

func freeBytes(string) (uint64, bool) { return 0, false }

func boundUnacknowledged(string, string, syscall.RawConn) error { return nil }

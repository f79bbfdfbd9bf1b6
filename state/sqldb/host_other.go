//go:build !linux

package sqldb

import (
	"os"
	"syscall"

	"github.com/safrasync/safrasync/internal/phrase"
)

// HostIdentity returns only the host's name. Without a boot id no process is proved to have ended,
// and leases end by time.
func HostIdentity() (host, boot, pidSpace string) {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return host, "", ""
}

func machineID() string { return "" }

func ProcessStart(int) (started string, running bool) { return "", true }

func Holders(string) *phrase.Text { return nil }

func OpenIn(string) []string { return nil }

func mayWrite(string) error { return nil }

func fileSystemType(string) (int64, bool) { return 0, false }

func Ours(os.FileInfo) bool { return false }

func ownerOf(string) (name string, other bool) { return "", false }

func FreeBytes(string) (uint64, bool) { return 0, false }

func BoundUnacknowledged(string, string, syscall.RawConn) error { return nil }

// SameDevice reports whether two files are on one device; on this system that is not known.
func SameDevice(string, string) bool { return false }

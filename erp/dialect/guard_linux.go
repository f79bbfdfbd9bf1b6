package dialect

import (
	"cmp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func limitUnacknowledged(network, _ string, raw syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
			int(unacknowledged.Milliseconds()))
	})
	return cmp.Or(err, failed)
}

package systemd

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// streamOf returns device and inode of a file, as the manager names the journal's stream.
func streamOf(file *os.File) string {
	var stat unix.Stat_t
	if unix.Fstat(int(file.Fd()), &stat) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

// monotonic returns the monotonic clock, with which the manager matches a message to a reload.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

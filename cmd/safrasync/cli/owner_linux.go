package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner sets the owner and group of f to those of the file that it replaces. If that is not
// permitted, f keeps the owner of this process.
func keepOwner(f *os.File, before fs.FileInfo) error {
	if before == nil {
		return nil
	}
	was, ok := before.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	err := f.Chown(int(was.Uid), int(was.Gid))
	if os.IsPermission(err) {
		return nil
	}
	return err
}

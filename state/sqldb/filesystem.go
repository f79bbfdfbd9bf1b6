package sqldb

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Tmpfs is memory: it lasts exactly as long as the kernel, and never comes back older.
const Tmpfs = 0x01021994

// Numbers of file systems as statfs(2) gives them.
var (
	networkFileSystems = map[int64]string{
		0x6969: "NFS", 0x517B: "SMB", 0xFE534D42: "SMB2", 0xFF534D42: "CIFS", 0x65735546: "FUSE", 0x564C: "NCP",
		0x5346414F: "AFS", 0x6B414653: "AFS", 0x73757245: "Coda", 0x00C36400: "Ceph", 0x0BD00BD0: "Lustre",
		0x7461636F: "OCFS2",
		0x01161970: "GFS2", 0x47504653: "GPFS",
	}
	doubtfulFileSystems = map[int64]string{
		0x794C7630: "overlay", Tmpfs: "tmpfs", 0x858458F6: "ramfs", 0x01021997: "9p",
	}
	localFileSystems = map[int64]string{
		0xEF53: "ext", 0x58465342: "xfs", 0x9123683E: "btrfs", 0x2FC12FC1: "zfs", 0xF2F52010: "f2fs", 0x4D44: "fat",
		0x2011BAB0: "exfat",
		0x5346544E: "ntfs", 0x7366746E: "ntfs",
	}
)

// NetworkFileSystem names a file system that is refused, "" for others.
func NetworkFileSystem(magic int64) string { return networkFileSystems[magic] }

// FileSystemName names a file system and reports whether a ledger on it outlives its host or
// container.
func FileSystemName(magic int64) (name string, lasting bool) {
	if name, ok := networkFileSystems[magic]; ok {
		return name, false
	}
	if name, ok := doubtfulFileSystems[magic]; ok {
		return name, false
	}
	if name, ok := localFileSystems[magic]; ok {
		return name, true
	}
	return fmt.Sprintf("type %#x", magic), true
}

// RunFolders are where notes may stand, in the order in which they are tried: the folder that
// systemd gives the service, the same for commands that people run as its user, the user's own, and
// the memory that programs share. A container has its own, which goes with it.
func RunFolders() []string {
	given, _, _ := strings.Cut(os.Getenv("RUNTIME_DIRECTORY"), ":")
	uid := strconv.Itoa(os.Geteuid())
	return []string{given, "/run/safrasync", "/run/user/" + uid + "/safrasync", "/dev/shm/safrasync-" + uid}
}

// LowSpace is the room below which Health warns: a day of a busy cooperative fits several times.
const LowSpace = 256 << 20

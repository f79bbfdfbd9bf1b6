package sqldb

import "fmt"

// File system numbers of statfs(2).
var (
	networkFileSystems = map[int64]string{
		0x6969: "NFS", 0x517B: "SMB", 0xFE534D42: "SMB2", 0xFF534D42: "CIFS", 0x65735546: "FUSE", 0x564C: "NCP",
		0x5346414F: "AFS", 0x6B414653: "AFS", 0x73757245: "Coda", 0x00C36400: "Ceph", 0x0BD00BD0: "Lustre",
		0x7461636F: "OCFS2",
		0x01161970: "GFS2", 0x47504653: "GPFS",
	}
	doubtfulFileSystems = map[int64]string{
		0x794C7630: "overlay", 0x01021994: "tmpfs", 0x858458F6: "ramfs", 0x01021997: "9p",
	}
	localFileSystems = map[int64]string{
		0xEF53: "ext", 0x58465342: "xfs", 0x9123683E: "btrfs", 0x2FC12FC1: "zfs", 0xF2F52010: "f2fs", 0x4D44: "fat",
		0x2011BAB0: "exfat",
		0x5346544E: "ntfs", 0x7366746E: "ntfs",
	}
)

// NetworkFileSystem returns the name of a file system that is refused, or "" for any other.
func NetworkFileSystem(magic int64) string { return networkFileSystems[magic] }

// FileSystemName returns the name of a file system, and whether a ledger on it outlives its host or
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

// LowSpace is the free space in bytes below which Health warns. It is several times what a busy
// cooperative needs in a day.
const LowSpace = 256 << 20

package sqldb

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// Self identifies this process; every call returns the same value: its instance, its host, and what
// proves to others that it has ended.
var Self = sync.OnceValue(func() trade.Owner {
	owner := trade.Owner{Instance: uuid.Must(uuid.NewV7()).String(), PID: os.Getpid()}
	owner.Host, owner.Boot, owner.PIDSpace = HostIdentity()
	// No other process is known to have this clock: its values mean nothing to other processes, and
	// theirs mean nothing to this one.
	if owner.Boot == "" {
		owner.Boot = "process " + owner.Instance
	}
	owner.Started, _ = ProcessStart(owner.PID)
	return owner
})

// ProcessBegan stands for the start of a machine that does not tell it.
var ProcessBegan = time.Now()

// OwnerEnded reports whether an owner has certainly ended: it was a process under this clock and in this
// PID space, and its process id is free or belongs to a later process. In all other cases only the
// expiry of the lease decides.
func OwnerEnded(owner trade.Owner) bool {
	self := Self()
	if owner.Boot == "" || owner.PIDSpace == "" || owner.Started == "" || owner.PID <= 0 ||
		owner.Boot != self.Boot || owner.PIDSpace != self.PIDSpace {
		return false
	}
	started, running := ProcessStart(owner.PID)
	return !running || (started != "" && started != owner.Started)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("number %d", os.Getuid())
}

// rightUser refuses to let the superuser write in another user's folder: the service could not open
// the files that are created there.
func rightUser(path string) error {
	dir := filepath.Dir(path)
	name, other := ownerOf(dir)
	if !other || os.Geteuid() != 0 {
		return nil
	}
	return Refuse(CodePermission, path,
		phrase.Errorf("its folder %s belongs to %s, who could not use the files that %s makes there", dir, name,
			userName()),
		phrase.New("run it as that user: runuser -u %s -- safrasync …", name))
}

// FilesHint states who owns what may not be opened, and the command that corrects it.
func FilesHint(path string) *phrase.Text {
	dir := filepath.Dir(path)
	if name, other := ownerOf(dir); other && name == "root" {
		return phrase.New("%s belongs to root: as root, put the file where %[2]s can use it: install -o %[2]s -m 600 %[3]s FOLDER/",
			dir, userName(), path)
	} else if other {
		return phrase.New("%s belongs to %[2]s: run it as that user: runuser -u %[2]s -- safrasync …", dir, name)
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if name, other := ownerOf(path + end); other {
			me := userName()
			return phrase.New("%s belongs to %s; as root: chown -R %s: %s", path+end, name, me, dir)
		}
	}
	return phrase.New("let the user %s read and write the file and its folder: chmod u+rwX %s %s", userName(), dir, path)
}

// FreeSpace states the free space of the disk of a file, for an error message.
func FreeSpace(path string) *phrase.Text {
	free, ok := FreeBytes(filepath.Dir(path))
	if !ok {
		return phrase.New("free space unknown")
	}
	return phrase.New("%d bytes free in %s", free, filepath.Dir(path))
}

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

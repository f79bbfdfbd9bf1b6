package sqldb

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"sync"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// Self names this process, the same at each call: its start, its host, and what proves to others
// that it is gone.
var Self = sync.OnceValue(func() trade.Owner {
	owner := trade.Owner{Instance: uuid.Must(uuid.NewV7()).String(), PID: os.Getpid()}
	owner.Host, owner.Boot, owner.PIDSpace = HostIdentity()
	// nobody else has this clock for certain: what it says means nothing to another process, nor
	// that of another to this one
	if owner.Boot == "" {
		owner.Boot = "process " + owner.Instance
	}
	owner.Started, _ = ProcessStart(owner.PID)
	return owner
})

// Gone reports whether it is certain that an owner no longer runs: it was a process of this clock
// and this PID space, and its number is free or belongs to a later process. Everything else is for
// the lease's time to decide.
func Gone(owner trade.Owner) bool {
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

// rightUser refuses what the superuser would do in another user's folder: the service could not
// open the files that it leaves there.
func rightUser(path string) error {
	dir := filepath.Dir(path)
	name, other := ownerOf(dir)
	if !other || os.Geteuid() != 0 {
		return nil
	}
	return &Error{
		Code: CodePermission, Path: path, Hint: "run it as that user: runuser -u " + name + " -- safrasync …",
		Err: fmt.Errorf("its folder %s belongs to %s, who could not use the files that %s makes there", dir, name,
			userName()),
	}
}

// FilesHint says who owns what may not be opened, and the command that puts it right.
func FilesHint(path string) string {
	dir := filepath.Dir(path)
	if name, other := ownerOf(dir); other {
		return dir + " belongs to " + name + ": run it as that user: runuser -u " + name + " -- safrasync …"
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if name, other := ownerOf(path + end); other {
			me := userName()
			return path + end + " belongs to " + name + "; as root: chown -R " + me + ": " + dir
		}
	}
	return "let the user " + userName() + " read and write the file and its folder: chmod u+rwX " + dir + " " + path
}

// FreeSpace says how much room the disk of a file has, in words for an error.
func FreeSpace(path string) string {
	free, ok := FreeBytes(filepath.Dir(path))
	if !ok {
		return "free space unknown"
	}
	return fmt.Sprintf("%d bytes free", free)
}

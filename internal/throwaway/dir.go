package throwaway

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LockSuffix is the end of the name of the lock file beside a folder.
const LockSuffix = ".lock"

// Dir is a folder that exists as long as the process that created it. A lock file beside it, held
// with flock, shows that the owner is alive. The kernel drops the lock however the owner ends, so
// nothing depends on process ids, which are reused.
type Dir struct {
	// Path is absolute.
	Path string
	lock *os.File
}

// Kind is a kind of server, which determines the names of its folders.
type Kind struct {
	// Prefix begins the names.
	Prefix string
	// InMemory prefers a file system in memory if there is one with enough space, where flushes
	// cost nothing. It must not be set for measurements.
	InMemory bool
	// StillServed reports whether a server is running in the folder of a dead owner, and tells it
	// to stop.
	StillServed func(dir string) bool
}

// NewDir creates a folder owned by the server's user, under a temporary folder that this user can
// enter.
func (k Kind) NewDir(owner *syscall.Credential) (*Dir, error) {
	parent, err := tempParent(owner != nil)
	if k.InMemory && roomInMemory() {
		parent, err = memory, nil
	}
	if err != nil {
		return nil, err
	}
	k.RemoveStale(parent)
	lock, err := k.createLock(parent)
	if err != nil {
		return nil, err
	}
	w := &Dir{Path: strings.TrimSuffix(lock.Name(), LockSuffix), lock: lock}
	err = os.Mkdir(w.Path, 0o700)
	if err == nil && owner != nil {
		err = os.Chown(w.Path, int(owner.Uid), int(owner.Gid))
	}
	if err != nil {
		return nil, errors.Join(err, w.Remove())
	}
	return w, nil
}

// Remove deletes the folder and then gives up the lock.
func (w *Dir) Remove() error {
	return errors.Join(os.RemoveAll(w.Path), os.Remove(w.lock.Name()), w.lock.Close())
}

// memory is Linux's in-memory file system to which everybody may write.
const memory = "/dev/shm"

// leastMemory is the space that must be free there: for the databases of three packages' tests at
// once.
const leastMemory = 6 << 30

func roomInMemory() bool {
	const tmpfs = 0x01021994
	var s syscall.Statfs_t
	return syscall.Statfs(memory, &s) == nil && s.Type == tmpfs && s.Bavail*uint64(s.Bsize) >= leastMemory &&
		passable(memory)
}

// TempInMemory lets the temporary folders of this process, and of those that it starts, be in memory
// if there is enough space, where flushes cost nothing. It must not be called where what is tested
// looks at the disk. After end, they are where they were.
func TempInMemory() (end func() error, err error) {
	const variable = "TMPDIR"
	if !roomInMemory() {
		return func() error { return nil }, nil
	}
	k := Kind{Prefix: "safrasync-temp-", InMemory: true, StillServed: func(string) bool { return false }}
	dir, err := k.NewDir(nil)
	if err != nil {
		return nil, err
	}
	before, set := os.LookupEnv(variable)
	return func() error {
		err := os.Unsetenv(variable)
		if set {
			err = os.Setenv(variable, before)
		}
		return errors.Join(err, dir.Remove())
	}, os.Setenv(variable, dir.Path)
}

// createLock creates a lock file and locks it. Between the two steps another process may take the
// file for that of a dead process and remove it; then another name is tried.
func (k Kind) createLock(parent string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(parent, k.Prefix+"*"+LockSuffix)
		if err != nil {
			return nil, err
		}
		if tryLock(f) && sameFile(f) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// sameFile reports whether the file's name still refers to it.
func sameFile(f *os.File) bool {
	byHandle, err1 := f.Stat()
	byName, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(byHandle, byName)
}

// RemoveStale deletes the folders of dead test processes. It is best effort: what cannot be removed
// now (another user's folder, or that of a server that is still shutting down) is left for the next
// time.
func (k Kind) RemoveStale(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, k.Prefix+"*"+LockSuffix)) // the pattern is constant, and valid
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		dir := strings.TrimSuffix(name, LockSuffix)
		if tryLock(f) && sameFile(f) && !k.StillServed(dir) && os.RemoveAll(dir) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}

// tempParent returns the temporary folder. If the server runs as another user, that user must be
// able to enter each folder on the path, which a TMPDIR private to root does not allow.
func tempParent(otherUser bool) (string, error) {
	candidates := []string{os.TempDir(), "/tmp", "/var/tmp"}
	for _, dir := range candidates {
		resolved, err := filepath.EvalSymlinks(dir)
		if err == nil && (!otherUser || passable(resolved)) {
			return resolved, nil
		}
	}
	return "",
		fmt.Errorf("none of %s can be entered by the server's user: set TMPDIR to a folder that others may enter",
			strings.Join(candidates, ", "))
}

func passable(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

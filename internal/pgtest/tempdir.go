package pgtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	dirPrefix  = "safrasync-pgtest-"
	lockSuffix = ".lock"
)

// workDir is a folder that lives as long as the process which made it: a lock file beside it, held under flock, says that
// the owner is alive. The kernel drops the lock at any death, so nothing depends on process numbers, which are reused.
type workDir struct {
	path string
	lock *os.File
}

// newWorkDir makes a folder owned by the server's user, under a temporary folder that this user can enter.
func newWorkDir(owner *syscall.Credential) (*workDir, error) {
	parent, err := tempParent(owner != nil)
	if err != nil {
		return nil, err
	}
	removeStale(parent)
	lock, err := createLock(parent)
	if err != nil {
		return nil, err
	}
	w := &workDir{path: strings.TrimSuffix(lock.Name(), lockSuffix), lock: lock}
	err = os.Mkdir(w.path, 0o700)
	if err == nil && owner != nil {
		err = os.Chown(w.path, int(owner.Uid), int(owner.Gid))
	}
	if err != nil {
		return nil, errors.Join(err, w.remove())
	}
	return w, nil
}

// remove deletes the folder and then gives up the lock.
func (w *workDir) remove() error {
	return errors.Join(os.RemoveAll(w.path), os.Remove(w.lock.Name()), w.lock.Close())
}

// createLock makes a lock file and locks it. Between the two steps another process may take the file for a dead one's and
// remove it; then the name is gone, and we try the next.
func createLock(parent string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(parent, dirPrefix+"*"+lockSuffix)
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

// sameFile tells whether the file's name still leads to it.
func sameFile(f *os.File) bool {
	byHandle, err1 := f.Stat()
	byName, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(byHandle, byName)
}

// removeStale deletes what dead test processes left. It is best effort: what cannot be removed now (another user's, or a
// server still shutting down) is left for the next time.
func removeStale(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*"+lockSuffix)) // the pattern is constant, and valid
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		dir := strings.TrimSuffix(name, lockSuffix)
		if tryLock(f) && sameFile(f) && !stillServed(filepath.Join(dir, "data")) && os.RemoveAll(dir) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}

// stillServed tells whether a server works in the data directory of a dead owner, and orders that one to stop. The working
// directory proves that the process number in postmaster.pid was not reused.
func stillServed(dataDir string) bool {
	text, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return false
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || cwd != dataDir {
		return false
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	return true
}

// tempParent returns the temporary folder. When the server runs as another user, each folder on the way must let others
// pass; a TMPDIR private to root does not.
func tempParent(otherUser bool) (string, error) {
	candidates := []string{os.TempDir(), "/tmp", "/var/tmp"}
	for _, dir := range candidates {
		resolved, err := filepath.EvalSymlinks(dir)
		if err == nil && (!otherUser || passable(resolved)) {
			return resolved, nil
		}
	}
	return "", fmt.Errorf("none of %s can be entered by the server's user: set TMPDIR to a folder that others may enter", strings.Join(candidates, ", "))
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

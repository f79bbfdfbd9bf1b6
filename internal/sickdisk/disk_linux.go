//go:build seccomp

package sickdisk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Disk makes calls on files fail. Its methods are safe for concurrent use.
type Disk struct {
	listener, null int

	mu     sync.Mutex
	plan   Plan
	calls  int
	hit    string
	failed error // of the supervision itself
}

// Plan defines which calls fail.
type Plan struct {
	Under   string                       // the folder; only calls on it or below it count
	Skip    func(call, path string) bool // reports calls that do not count nevertheless; nil: none
	At      int                          // the number of the call that fails, from 1; 0: none
	Lasting bool                         // all later calls fail too
	Err     unix.Errno                   // the error; 0 means EIO
}

// lowest is the first descriptor whose reads and writes are intercepted. The descriptors of the
// runtime itself are below it; the runtime waits for some of them with all goroutines stopped.
const lowest = 24

// New intercepts the calls of this process for the rest of its life. Nothing fails yet.
func New() (*Disk, error) {
	null, err := reserveLow()
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(max(8, runtime.GOMAXPROCS(0))) // keep one for the supervision, even if all others wait
	filter := program()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no new privileges: %w", err)
	}
	flags := uintptr(
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH)
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return nil, fmt.Errorf("a seccomp filter with notifications, which Linux has since 5.5: %w", errno)
	}
	d := &Disk{listener: int(fd), null: null}
	go d.supervise()
	return d, nil
}

// reserveLow occupies the low descriptors, after the runtime has opened its own, and returns a
// descriptor of /dev/null.
func reserveLow() (null int, err error) {
	r, w, err := os.Pipe() // this makes the runtime open its poller
	if err != nil {
		return 0, err
	}
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		return 0, err
	}
	for null < lowest {
		null, err = unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
	}
	return null, nil
}

// Arm sets the plan and starts counting calls.
func (d *Disk) Arm(p Plan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Err == 0 {
		p.Err = unix.EIO
	}
	d.plan, d.calls, d.hit = p, 0, ""
}

// Disarm stops all failures. It returns the call that failed first since Arm, or "".
func (d *Disk) Disarm() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan.At = 0
	return d.hit, d.failed
}

// notification is the kernel's struct seccomp_notif.
type notification struct {
	id        uint64
	pid, flag uint32
	nr        int32
	arch      uint32
	ip        uint64
	args      [6]uint64
}

// response is the kernel's struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// supervise answers the kernel. It must not make any of the calls that it intercepts.
func (d *Disk) supervise() {
	for {
		var n notification
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.listener), unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&n)))
		if errno == unix.EINTR || errno == unix.ENOENT { // ENOENT: the caller is gone
			continue
		}
		if errno != 0 {
			d.broke(errno)
			return
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if err := d.judge(&n); err != 0 {
			r.flags, r.err = 0, -int32(err)
		}
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(d.listener), unix.SECCOMP_IOCTL_NOTIF_SEND,
			uintptr(unsafe.Pointer(&r)))
		if errno != 0 && errno != unix.ENOENT {
			d.broke(errno)
			return
		}
	}
}

func (d *Disk) broke(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = errors.Join(d.failed, err)
}

// judge returns the error with which a call fails, or 0.
func (d *Disk) judge(n *notification) unix.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.plan.At == 0 {
		return 0
	}
	c := calls[n.nr]
	path := d.pathOf(n, c)
	if path != d.plan.Under && !strings.HasPrefix(path, d.plan.Under+"/") || d.plan.Skip != nil &&
		d.plan.Skip(c.name, path) {
		return 0
	}
	d.calls++
	if d.calls < d.plan.At || d.calls > d.plan.At && !d.plan.Lasting {
		return 0
	}
	if d.hit == "" {
		d.hit = c.name + " " + path
	}
	if c.name == "close" { // a close that fails has still closed the file and released its lock
		if err := unix.Dup3(d.null, int(n.args[0]), unix.O_CLOEXEC); err != nil {
			d.failed = errors.Join(d.failed, err)
		}
	}
	return d.plan.Err
}

// pathOf returns the path of the file of a call, or "" if it has none.
func (d *Disk) pathOf(n *notification, c call) string {
	if c.path == 0 {
		return nameOf(int(int32(n.args[0])))
	}
	buffer := make([]byte, 4096)
	at := uintptr(n.args[c.path])
	page := 4096 - int(at%4096) // the path may end at the end of the last readable page
	read := 0
	for read < len(buffer) {
		part := buffer[read:min(len(buffer), read+page)]
		got, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{{Base: &part[0], Len: uint64(len(part))}},
			[]unix.RemoteIovec{{Base: at + uintptr(read), Len: len(part)}}, 0)
		if err != nil || got != len(part) {
			break
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return d.absolute(int(int32(n.args[c.path-1])), string(buffer[:read+end]))
		}
		read, page = read+got, 4096
	}
	return ""
}

// absolute returns the absolute form of a path that may be relative to an open folder.
func (d *Disk) absolute(folder int, path string) string {
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case folder == unix.AT_FDCWD:
		return ""
	case path == "":
		return nameOf(folder)
	}
	return filepath.Join(nameOf(folder), path)
}

func nameOf(fd int) string {
	buffer := make([]byte, 4096)
	n, err := unix.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd), buffer)
	if err != nil {
		return ""
	}
	return string(buffer[:n])
}

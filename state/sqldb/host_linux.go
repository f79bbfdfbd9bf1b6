package sqldb

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/safrasync/safrasync/internal/phrase"
)

// HostIdentity returns the machine's name and id, the identity of its clock, and the namespace of
// process ids. What cannot be read is empty.
func HostIdentity() (host, boot, pidSpace string) {
	host = FirstLine("/etc/machine-id")
	if name, err := os.Hostname(); err == nil {
		host = strings.Trim(name+"/"+host, "/")
	}
	pidSpace, _ = os.Readlink("/proc/self/ns/pid") // "" if /proc hides it
	return host, clockIdentity(), pidSpace
}

// clockIdentity identifies the clock that CLOCK_BOOTTIME shows and from which starts of processes
// count: the kernel's boot, and the time namespace, in which a container may have an offset of its
// own. The number of a namespace is reused after it has ended, so the identity includes the offset.
// A kernel without time namespaces has one clock.
func clockIdentity() string {
	boot := FirstLine("/proc/sys/kernel/random/boot_id")
	space, err := os.Readlink("/proc/self/ns/time")
	offset, offsetErr := os.ReadFile("/proc/self/timens_offsets")
	if _, known := os.Readlink("/proc/self/ns/pid"); known == nil && errors.Is(err, os.ErrNotExist) &&
		errors.Is(offsetErr, os.ErrNotExist) {
		return boot // before Linux 5.6, or without CONFIG_TIME_NS
	}
	if boot == "" || err != nil || offsetErr != nil {
		return ""
	}
	return boot + " " + space + " " + strings.Join(strings.Fields(string(offset)), " ")
}

// machineID returns the id of the host, or "" in a container that has none.
func machineID() string { return FirstLine("/etc/machine-id") }

// FirstLine returns the first line of a file, or "" if it cannot be read.
func FirstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// ProcessStart returns when a process started, in the kernel's ticks, and whether it runs. A
// process that we may not inspect counts as running, with an unknown start. A zombie, which has
// ended but was not collected by its parent, does not run.
func ProcessStart(pid int) (started string, running bool) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return "", false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", true // /proc can hide the processes of others; only ESRCH above proves an end
	}
	// The second field is the command in parentheses. It may contain anything, even parentheses and
	// blanks.
	_, rest, ok := strings.Cut(string(text[max(0, strings.LastIndexByte(string(text), ')')):]), ")")
	fields := strings.Fields(rest)
	const state, start = 0, 19 // fields 3 and 22 of proc(5)
	if !ok || len(fields) <= start {
		return "", true
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return "", false
	}
	return fields[start], true
}

// Holders lists the other processes that have a file open, as far as we may see, for an error
// message.
func Holders(path string) *phrase.Text {
	pids := OpenIn(path)
	if len(pids) == 0 {
		return nil
	}
	return phrase.New(" (the file is open in process %s)", strings.Join(pids, ", "))
}

// OpenIn returns the process ids of other processes of this user that have a file open.
func OpenIn(path string) []string {
	// the pattern is valid, and Glob returns no other error
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	var pids []string
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || target != path {
			continue
		}
		pid := strings.Split(link, "/")[2]
		if pid == strconv.Itoa(os.Getpid()) || (len(pids) > 0 && pids[len(pids)-1] == pid) {
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}

// mayWrite checks with the system, without opening the file, whether we may write to it.
func mayWrite(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}

func fileSystemType(path string) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, false
	}
	return int64(st.Type) & 0xffffffff, true //nolint:unconvert // it is an int32 on 32-bit machines
}

// Ours reports whether a file belongs to this user.
func Ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// SameDevice reports whether two files or folders are on one device, as far as that is known.
func SameDevice(a, b string) bool {
	var device [2]uint64
	for i, path := range []string{a, b} {
		var st syscall.Stat_t
		if syscall.Stat(path, &st) != nil {
			return false
		}
		device[i] = st.Dev
	}
	return device[0] == device[1]
}

// ownerOf returns the owner of a file, and whether that is another user. For a file that cannot be
// inspected it returns "" and false.
func ownerOf(path string) (name string, other bool) {
	info, err := os.Stat(path)
	if err != nil || Ours(info) {
		return "", false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	uid := strconv.Itoa(int(st.Uid))
	if u, err := user.LookupId(uid); err == nil {
		return u.Username, true
	}
	return uid, true
}

// FreeBytes returns the free bytes of the disk of a path. ok is false if they cannot be determined.
func FreeBytes(path string) (uint64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil || st.Bsize <= 0 {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

// BoundUnacknowledged sets a limit on a connection: it ends if the other side has not acknowledged
// sent bytes for 20 s.
func BoundUnacknowledged(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if controlErr := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 20_000)
	}); controlErr != nil {
		return controlErr
	}
	return err
}

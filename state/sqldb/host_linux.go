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
)

// HostIdentity returns the machine's id (or its name), the clock's, and the namespace in which
// process numbers count; what cannot be read is empty.
func HostIdentity() (host, boot, pidSpace string) {
	host = FirstLine("/etc/machine-id")
	if name, err := os.Hostname(); err == nil {
		host = strings.Trim(name+"/"+host, "/")
	}
	pidSpace, _ = os.Readlink("/proc/self/ns/pid") // "" where /proc hides it
	return host, clockIdentity(), pidSpace
}

// clockIdentity names the clock that CLOCK_BOOTTIME shows and from which starts of processes count:
// the kernel's boot and the time namespace, in which a container may have an offset of its own. A
// namespace's number is used again after it has gone, so that its offset is a part of the name. A
// kernel that has none has one clock.
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

// machineID is the host's own id; "" in a container that has none.
func machineID() string { return FirstLine("/etc/machine-id") }

// FirstLine returns the first line of a file; "" when it cannot be read.
func FirstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// ProcessStart returns when a process started, in the kernel's ticks, and whether it runs. A
// process that we may not look at runs, with an unknown start. One that has ended and was not yet
// collected by its parent does not run.
func ProcessStart(pid int) (started string, running bool) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return "", false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", true // /proc can hide the processes of others; only the signal above proves an end
	}
	// The second field is the command in parentheses and may hold anything, also parentheses and
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

// Holders names the other processes that have a file open, as far as we may see, in words for an
// error.
func Holders(path string) string {
	pids := OpenIn(path)
	if len(pids) == 0 {
		return ""
	}
	return " (the file is open in process " + strings.Join(pids, ", ") + ")"
}

// OpenIn are the processes of this user, but for this one, that have a file open.
func OpenIn(path string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is sound, and nothing else is an error
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

// mayWrite asks the system, without opening the file, whether we may write it.
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

// ownerOf names the owner of a file, and reports whether that is somebody else; a file that cannot
// be looked at is nobody's.
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

// FreeBytes returns the free bytes of the disk of a path; ok is false where nobody knows.
func FreeBytes(path string) (uint64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil || st.Bsize <= 0 {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

// BoundUnacknowledged ends a connection whose bytes the other side has not acknowledged for 20 s.
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

//go:build seccomp

package sickdisk

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// call is a system call on a file.
type call struct {
	name string
	// path is the index of the argument that is a path; the argument before it is the folder to
	// which the path is relative. 0: the first argument is a descriptor.
	path int
}

// calls are the calls that Go's package os makes on files. SQLite makes others in addition.
var calls = map[int32]call{
	unix.SYS_OPENAT:          {"openat", 1},
	fstatat:                  {"fstatat", 1},
	unix.SYS_MKDIRAT:         {"mkdirat", 1},
	unix.SYS_UNLINKAT:        {"unlinkat", 1},
	unix.SYS_RENAMEAT:        {"renameat", 1},
	unix.SYS_LINKAT:          {"linkat", 1},
	unix.SYS_FACCESSAT2:      {"faccessat2", 1},
	unix.SYS_FSTAT:           {"fstat", 0},
	unix.SYS_READ:            {"read", 0},
	unix.SYS_PREAD64:         {"pread64", 0},
	unix.SYS_WRITE:           {"write", 0},
	unix.SYS_PWRITE64:        {"pwrite64", 0},
	unix.SYS_FSYNC:           {"fsync", 0},
	unix.SYS_FTRUNCATE:       {"ftruncate", 0},
	unix.SYS_GETDENTS64:      {"getdents64", 0},
	unix.SYS_CLOSE:           {"close", 0},
	unix.SYS_FLOCK:           {"flock", 0},
	unix.SYS_FSTATFS:         {"fstatfs", 0},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", 0},
}

// program returns the filter: it intercepts all calls on files that are listed above, and allows
// all others.
func program() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		give  = unix.BPF_RET | unix.BPF_K
		// offsets in struct seccomp_data of the number and of the low half of the first argument
		number, first = 0, 16
	)
	out := []unix.SockFilter{{Code: load, K: number}}
	numbers := slices.Sorted(maps.Keys(calls))
	for _, withPath := range []bool{true, false} {
		for _, nr := range numbers {
			if (calls[nr].path > 0) == withPath {
				// Jumps to the block after the list; the distance is filled in below.
				out = append(out, unix.SockFilter{Code: equal, K: uint32(nr)})
			}
		}
	}
	out = append(out, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW})
	descriptor := len(out)
	out = append(out,
		unix.SockFilter{Code: load, K: first},
		unix.SockFilter{Code: least, K: lowest, Jt: 1},
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_USER_NOTIF})
	for i := range out[:descriptor] {
		if out[i].Code != equal {
			continue
		}
		to := descriptor
		if calls[int32(out[i].K)].path > 0 {
			to = len(out) - 1
		}
		out[i].Jt = uint8(to - i - 1)
	}
	return out
}

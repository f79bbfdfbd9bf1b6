//go:build seccomp

package sickdisk

import "golang.org/x/sys/unix"

const fstatat = unix.SYS_FSTATAT

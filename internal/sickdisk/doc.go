//go:build seccomp

// Package sickdisk lets the system calls of a process on the files below a folder fail, one by one:
// a disk that breaks at the k-th call. It stands between the process and its kernel (Linux, seccomp
// with notifications), for good, so that tests start themselves again as another process to use it.
package sickdisk

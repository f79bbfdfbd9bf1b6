//go:build seccomp

// Package sickdisk makes the system calls of a process on the files below a folder fail, one by
// one, like a disk that breaks at the k-th call. It intercepts the calls of its own process for
// good (Linux, seccomp with notifications), so tests that use it start themselves again as another
// process.
package sickdisk

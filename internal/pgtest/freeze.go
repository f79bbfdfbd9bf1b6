package pgtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Freeze suspends every process of the server, as a machine that is suspended: it answers nothing, and
// closes no connection. wake continues them; it is also called after the test.
func (c *Cluster) Freeze(t testing.TB) (wake func()) {
	t.Helper()
	postmaster := c.PID()
	if err := syscall.Kill(postmaster, syscall.SIGSTOP); err != nil { // it starts no more processes
		t.Fatalf("pgtest: freezing the server: %v", err)
	}
	frozen := append(children(t, postmaster), postmaster)
	signal := func(s syscall.Signal) {
		for _, pid := range frozen {
			if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Errorf("pgtest: %v to process %d of the server: %v", s, pid, err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	wake = sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	t.Cleanup(wake)
	return wake
}

func children(t testing.TB, parent int) (pids []int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

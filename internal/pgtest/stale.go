package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/safrasync/safrasync/internal/throwaway"
)

var kind = throwaway.Kind{
	Prefix:      "safrasync-pgtest-",
	StillServed: func(dir string) bool { return stillServed(filepath.Join(dir, "data")) },
}

// stillServed reports whether a server is running in the data directory of a dead owner, and tells
// that server to stop. The working directory proves that the process number in postmaster.pid was
// not reused.
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

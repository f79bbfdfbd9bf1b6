package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

// withServers runs the tests, stops the databases and the browser that they may have started, and searches
// everything that the program wrote for what it must never write.
type withServers struct{ m *testing.M }

func (w withServers) Run() int {
	code := pgtest.Run(throwaway.M{M: w.m})
	endChromium()
	if err := errors.Join(endShared(), searchTranscripts()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// shared is a folder for what several tests use, and nobody changes.
var shared = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "safrasync-shared")
	endShared = func() error { return os.RemoveAll(dir) }
	return dir, err
})

// endShared removes the folder, if a test has asked for it.
var endShared = func() error { return nil }

// TestMain makes this binary the program itself when a script calls it: scripts run it as a process
// of its own, with its exit codes, signals and leases.
func TestMain(m *testing.M) {
	beginTranscripts()
	testscript.Main(withServers{m}, map[string]func(){"safrasync": transcribed})
}

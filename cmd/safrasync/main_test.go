package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

// withServers runs the tests, stops the databases that they may have started, and searches
// everything that the program wrote for what it must never write.
type withServers struct{ m *testing.M }

func (w withServers) Run() int {
	code := pgtest.Run(throwaway.M{M: w.m})
	if err := searchTranscripts(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// TestMain makes this binary the program itself when a script calls it: scripts run it as a process
// of its own, with its exit codes, signals and leases.
func TestMain(m *testing.M) {
	beginTranscripts()
	testscript.Main(withServers{m}, map[string]func(){"safrasync": transcribed})
}

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

// withServers runs the tests and stops the databases that they may have started.
type withServers struct{ m *testing.M }

func (w withServers) Run() int { return pgtest.Run(throwaway.M{M: w.m}) }

// TestMain makes this binary the program itself when a script calls it: scripts run it as a process of its own, with its exit codes, signals
// and leases.
func TestMain(m *testing.M) {
	testscript.Main(withServers{m}, map[string]func(){"safrasync": main})
}

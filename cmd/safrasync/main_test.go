package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/safrasync/safrasync/internal/pgtest"
)

// withPostgres runs the tests and stops the PostgreSQL that they may have started.
type withPostgres struct{ m *testing.M }

func (w withPostgres) Run() int { return pgtest.Run(w.m) }

// TestMain makes this binary the program itself when a script calls it: scripts run it as a process of its own, with its exit codes, signals
// and leases.
func TestMain(m *testing.M) {
	testscript.Main(withPostgres{m}, map[string]func(){"safrasync": main})
}

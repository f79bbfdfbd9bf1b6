package main

import (
	"errors"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// The exit codes. Services and scripts rely on them; `safrasync --help` lists them.
const (
	exitDone      = 0  // done; rows may need attention, and the summary says so
	exitFailed    = 1  // failed: a job stopped, something cannot be reached, a check did not pass
	exitUsage     = 2  // wrong usage, or an act that was only planned because nobody confirmed it
	exitAttention = 3  // only with --strict: done, rows need attention
	exitLeased    = 75 // another process runs this job (EX_TEMPFAIL)
	exitConfig    = 78 // wrong configuration (EX_CONFIG)
)

// exitError ends the program with a code after everything that people need was said.
type exitError struct{ code int }

func (e *exitError) Error() string { return "the command has said why" }

// usageError is a wrong call; its text is in the person's language.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// exitCode gives the code of an error.
func exitCode(err error) int {
	var exit *exitError
	var usage *usageError
	var config *ConfigError
	var leased *trade.LeasedError
	var ledger *state.Error
	var spec *engine.SpecError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &config), errors.As(err, &spec):
		return exitConfig
	case errors.As(err, &ledger) && ledger.Code == state.CodeConfig:
		return exitConfig
	case errors.As(err, &leased):
		return exitLeased
	}
	return exitFailed
}

package cli

import (
	"errors"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// The exit codes. Services and scripts rely on them; `safrasync --help` lists them.
const (
	ExitDone      = 0  // done; rows may need attention, which the summary reports
	ExitFailed    = 1  // failed: a job stopped, something cannot be reached, a check did not pass
	ExitUsage     = 2  // wrong usage, or an act that was only planned because nobody confirmed it
	ExitAttention = 3  // only with --strict: done, rows need attention
	ExitLeased    = 75 // another process runs this job (EX_TEMPFAIL)
	ExitConfig    = 78 // wrong configuration (EX_CONFIG)
)

// ExitError ends the program with a code. The command has already printed everything that people
// need.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return "the command has said why" }

// ErrFailed is the error of a command that has failed and said why.
var ErrFailed error = &ExitError{ExitFailed}

// FailedIf returns the error of a command that has failed and said why, or nil.
func FailedIf(failed bool) error {
	if failed {
		return ErrFailed
	}
	return nil
}

// UsageError is a wrong call of a command; its text is in the person's language.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// LedgerFault returns why the ledger cannot be used; nil if that is not the error.
func LedgerFault(err error) *state.Error {
	fault, _ := errors.AsType[*state.Error](err)
	return fault
}

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	var exit *ExitError
	var usage *UsageError
	var config *config.Error
	var leased *trade.LeasedError
	var spec *mapping.SpecError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &config), errors.As(err, &spec):
		return ExitConfig
	case LedgerFault(err) != nil && LedgerFault(err).Code == state.CodeConfig:
		return ExitConfig
	case errors.As(err, &leased):
		return ExitLeased
	}
	return ExitFailed
}

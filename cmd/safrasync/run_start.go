package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Run executes the command line and gives the exit code. Cancelling ctx ends it early; what is on
// the wire is awaited.
func (a *App) Run(ctx context.Context, args []string) int {
	a.version, a.out, a.ended = version, bufio.NewWriter(a.Stdout), ctx.Done()
	root := newRootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if err = errors.Join(err, a.close()); err != nil {
		if code == exitDone {
			code = exitFailed
		}
		a.complain(err)
	}
	if err := a.out.Flush(); err != nil {
		a.complain(fmt.Errorf("standard output: %w", err))
		return max(code, exitFailed)
	}
	return code
}

// complain tells people why the command ended, each reason once and in plain text.
func (a *App) complain(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			a.complain(e)
		}
		return
	}
	var exit *exitError
	var usage *usageError
	var leased *trade.LeasedError
	var ledger *state.Error
	switch {
	case errors.As(err, &exit):
	case errors.As(err, &usage):
		a.tell("says.usage", usage.text)
	case errors.As(err, &leased):
		a.tell("says.leased", leased.Job, leased.Owner.PID, leased.Owner.Host)
	case errors.As(err, &ledger):
		a.tell("says.error", a.voice().ledgerFault(ledger, err))
	default:
		a.tell("says.error", err)
	}
}

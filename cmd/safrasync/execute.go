package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/systemd"
	"github.com/safrasync/safrasync/trade"
)

// runProgram is the whole program with the arguments of the process. It returns the exit code.
func runProgram(app *cli.App) int {
	// Go's HTTP transport writes bytes that a peer sends unasked to the standard logger, and they
	// may contain personal data (I10). This program logs with zap.
	log.SetOutput(io.Discard)
	// Who reads the log or the output may end first: that is an error of the write, and no reason to
	// leave rows in doubt.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal lets the requests in flight finish. The second one ends the process at once;
	// rows in flight are then in doubt.
	context.AfterFunc(ctx, stop)
	return execute(ctx, app, os.Args[1:])
}

// execute runs the command line and returns the exit code. Cancelling ctx ends it early; it waits
// for the requests in flight.
func execute(ctx context.Context, a *cli.App, args []string) int {
	a.Version, a.Out, a.Ended = version, bufio.NewWriter(a.Stdout), ctx.Done()
	// Help and usage errors are in the language of the file that --config names: it is read before the
	// arguments are parsed.
	file := ""
	for i, arg := range args {
		given, ok := strings.CutPrefix(arg, "--config=")
		if arg == "--config" && i+1 < len(args) {
			given, ok = args[i+1], true
		}
		if ok {
			file = given
			break
		}
	}
	a.Language = config.LanguageOf(file)
	a.Completing = slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "__complete") })
	root := newRootCommand(a)
	root.SetArgs(args)
	if a.Completing { // the shell shows the help of flags
		translateFlags(a, root)
	}
	err := root.ExecuteContext(ctx)
	code := cli.ExitCode(err)
	if err = errors.Join(err, a.Close()); err != nil {
		if code == cli.ExitDone {
			code = cli.ExitFailed
		}
		complain(a, err)
	}
	if err := a.Out.Flush(); err != nil {
		complain(a, phrase.Errorf("standard output: %w", err))
		return max(code, cli.ExitFailed)
	}
	return code
}

// complain prints why the command ended, each reason once and in plain text.
func complain(a *cli.App, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			complain(a, e)
		}
		return
	}
	if _, said := errors.AsType[*cli.ExitError](err); said {
		return
	}
	if systemd.ToJournal(a.Stderr) {
		fmt.Fprint(a.Stderr, systemd.ErrorPriority)
	}
	var usage *cli.UsageError
	var leased *trade.LeasedError
	switch {
	case errors.As(err, &usage):
		a.Tell("wrong usage: %s", usage.Text)
	case errors.As(err, &leased):
		a.Tell("another process is running job %s (pid %d on %s): wait for it, or stop it", leased.Job, leased.Owner.PID, leased.Owner.Host)
	default:
		a.Tell("error: %v", err)
	}
}

// version is set by the linker: -X main.version=…
var version = "dev"

//go:build !manpages

package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

func main() { os.Exit(runProgram(os.Stdout, os.Stderr)) }

// runProgram is the whole program, with its streams.
func runProgram(stdout, stderr io.Writer) int {
	// Go's HTTP transport writes the bytes that a peer sends unasked to the standard logger, and they
	// may hold anybody's data (I10). Ours is zap.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal lets what is on the wire come to its end. The second one ends the process at
	// once, as without us: rows on the wire are then in doubt.
	context.AfterFunc(ctx, stop)
	app := cli.App{Stdin: os.Stdin, Stdout: stdout, Stderr: stderr, Env: os.LookupEnv}
	return execute(ctx, &app, os.Args[1:])
}

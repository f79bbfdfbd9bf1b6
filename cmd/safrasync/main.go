//go:build !manpages

// SQL Server makes its own certificate with a random serial number, which is negative in about half
// the cases.

//go:debug x509negativeserial=1

package main

import (
	"os"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

func main() {
	os.Exit(runProgram(&cli.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv}))
}

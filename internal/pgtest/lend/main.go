package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/safrasync/safrasync/internal/pgtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: lend COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := pgtest.Lend(command)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lend:", err)
		os.Exit(1)
	}
}

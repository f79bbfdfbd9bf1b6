//go:build !manpages

package main

import "os"

func main() { os.Exit(runProgram(os.Stdout, os.Stderr)) }

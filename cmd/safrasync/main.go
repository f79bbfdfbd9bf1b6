//go:build !manpages

// SQL Server makes its own certificate with a random serial number, which is negative in about half
// the cases.

//go:debug x509negativeserial=1

package main

import "os"

func main() { os.Exit(runProgram(os.Stdout, os.Stderr)) }

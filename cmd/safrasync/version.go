package main

import (
	"fmt"
	"runtime"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// version is set by the linker: -X main.version=…
var version = "dev"

// printVersion prints the version of the program.
func printVersion(a *cli.App) error {
	if a.AsJSON {
		return a.PrintJSON(struct {
			Version string `json:"version"`
			Go      string `json:"go"`
		}{version, runtime.Version()})
	}
	fmt.Fprintf(a.Out, "safrasync %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

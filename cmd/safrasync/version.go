package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// version is set by the linker: -X main.version=…
var version = "dev"

func newVersionCommand(a *cli.App) *cobra.Command {
	return a.Command("version", "help.version", cli.Exactly(0), func(*cobra.Command, []string) error {
		if a.AsJSON {
			return a.PrintJSON(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
			}{version, runtime.Version()})
		}
		fmt.Fprintf(a.Out, "safrasync %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	})
}

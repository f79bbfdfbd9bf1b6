package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker: -X main.version=…
var version = "dev"

func newVersionCommand(a *App) *cobra.Command {
	return a.command("version", "help.version", exactly(0), func(*cobra.Command, []string) error {
		if a.asJSON {
			return a.printJSON(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
			}{version, runtime.Version()})
		}
		fmt.Fprintf(a.out, "safrasync %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	})
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

func newConfigCommand(a *cli.App) *cobra.Command {
	group := a.Group("config", "the configuration")
	group.AddCommand(a.Command("show", "show the configuration in effect, without secrets", cli.Exactly(0), func(context.Context, []string) error {
		config, err := a.LoadConfig()
		if err != nil {
			return err
		}
		if a.AsJSON {
			return a.PrintJSON(struct {
				File   string `json:"file"`
				Config string `json:"config"` // YAML
			}{config.File(), config.Show()})
		}
		fmt.Fprint(a.Out, config.Show())
		return nil
	}))
	return group
}

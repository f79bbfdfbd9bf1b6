package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newConfigCommand(a *App) *cobra.Command {
	group := a.group("config", "help.config")
	group.AddCommand(a.command("show", "help.config_show", exactly(0), func(*cobra.Command, []string) error {
		config, err := a.loadConfig()
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(struct {
				File   string `json:"file"`
				Config string `json:"config"` // YAML
			}{config.File(), config.Show()})
		}
		fmt.Fprint(a.out, config.Show())
		return nil
	}))
	return group
}

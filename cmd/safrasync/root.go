package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/commands"
	"github.com/safrasync/safrasync/cmd/safrasync/daemon"
	"github.com/safrasync/safrasync/cmd/safrasync/demo"
	"github.com/safrasync/safrasync/cmd/safrasync/maintenance"
)

// newRootCommand assembles the program's commands.
func newRootCommand(a *cli.App) *cobra.Command {
	showVersion := false
	root := a.Group("safrasync", "sends contracts, deliveries and traceability from the ERP to the platform, without losing or repeating anything")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if !showVersion || len(args) > 0 {
			return a.UnknownCommand(cmd, args)
		}
		if a.AsJSON {
			return a.PrintJSON(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
			}{version, runtime.Version()})
		}
		fmt.Fprintf(a.Out, "safrasync %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	}
	root.Flags().BoolVar(&showVersion, "version", false, "show the version of the program")
	root.Long = a.Text("help.root_long")
	root.SilenceErrors, root.SilenceUsage = true, true // execute prints each error once
	root.SetOut(a.Out)
	root.SetErr(a.Stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&a.ConfigPath, "config", "",
		"configuration `FILE` (default /etc/safrasync/config.yaml, then ./config.yaml)")
	flags.BoolVar(&a.AsJSON, "json", false, "results as JSON, English always; lists have one object a line")
	flags.BoolP("help", "h", false, "show this help")
	addGroup(a, root, "setup",
		demo.NewCommand(a), commands.NewInitCommand(a), maintenance.NewCheckCommand(a), newConfigCommand(a),
		commands.NewTestCommand(a), commands.NewExplainCommand(a), commands.NewRefsCommand(a), newUsersCommand(a),
		commands.NewWebhooksCommand(a), newSandboxCommand(a),
	)
	addGroup(a, root, "run",
		daemon.NewCommand(a), commands.NewSyncCommand(a), commands.NewResyncCommand(a),
		commands.NewAPICommand(a),
	)
	addGroup(a, root, "look",
		commands.NewStatusCommand(a), commands.NewRowsCommand(a), commands.NewWhyCommand(a),
		commands.NewReportCommand(a),
	)
	addGroup(a, root, "decide", append(commands.NewActCommands(a), commands.NewApprovalsCommand(a))...)
	addGroup(a, root, "ledger",
		maintenance.NewStateCommand(a), commands.NewJobCommand(a), maintenance.NewDoctorCommand(a),
		maintenance.NewBackupCommand(a),
		maintenance.NewRestoreCommand(a), maintenance.NewRebuildCommand(a), maintenance.NewPurgeCommand(a),
	)
	// Windows refuses the commands that only write a ledger or send: help leaves them out there.
	for _, cmd := range root.Commands() {
		switch name := cmd.Name(); {
		case runtime.GOOS != "windows":
		case cmd.GroupID == "decide", cmd.GroupID == "ledger" && name != "doctor", name == "run", name == "resync":
			cmd.Hidden = true
		}
	}
	setHelp(a, root)
	return root
}

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

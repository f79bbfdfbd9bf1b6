package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/acts"
	"github.com/safrasync/safrasync/cmd/safrasync/api"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/daemon"
	"github.com/safrasync/safrasync/cmd/safrasync/demo"
	"github.com/safrasync/safrasync/cmd/safrasync/maintenance"
	"github.com/safrasync/safrasync/cmd/safrasync/refs"
	"github.com/safrasync/safrasync/cmd/safrasync/report"
	"github.com/safrasync/safrasync/cmd/safrasync/rows"
	"github.com/safrasync/safrasync/cmd/safrasync/runs"
	"github.com/safrasync/safrasync/cmd/safrasync/setup"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
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
		demo.NewCommand(a, demonstrated), setup.NewCommand(a), maintenance.NewCheckCommand(a), newConfigCommand(a),
		rows.NewTestCommand(a), rows.NewExplainCommand(a), refs.NewCommand(a), newUsersCommand(a),
		api.NewWebhooksCommand(a), newSandboxCommand(a),
	)
	addGroup(a, root, "run",
		daemon.NewCommand(a), runs.NewSyncCommand(a), runs.NewResyncCommand(a),
		api.NewCommand(a),
	)
	addGroup(a, root, "look",
		runs.NewStatusCommand(a), rows.NewRowsCommand(a), rows.NewWhyCommand(a),
		report.NewCommand(a, acts.Decide),
	)
	addGroup(a, root, "decide", append(acts.NewCommands(a),
		acts.NewApprovalsCommand(a, acts.Elsewhere{
			engineacts.ActClose: report.Approvable, engineacts.ActResync: runs.Approvable,
		}))...)
	addGroup(a, root, "ledger",
		maintenance.NewStateCommand(a), acts.NewJobCommand(a), maintenance.NewDoctorCommand(a),
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

// demonstrated are the commands that the demo shows.
var demonstrated = demo.Commands{
	Sync: func(ctx context.Context, a *cli.App) ([]trade.RunReport, error) {
		return runs.Sync(ctx, a, nil, runs.SyncFlags{Sweep: true})
	},
	Said: func(ctx context.Context, a *cli.App, reports []trade.RunReport) error {
		o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
		if err != nil {
			return err
		}
		return runs.PrintSync(ctx, a, o, reports, runs.SyncFlags{}, nil, nil)
	},
	Status: runs.Status,
	Report: func(ctx context.Context, a *cli.App) error {
		return report.Run(ctx, a, report.Flags{Sections: []string{string(reconcile.SummarySection)}})
	},
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

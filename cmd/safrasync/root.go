package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	// Help, flags and usage errors appear in one language; the library has English texts only.
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		translateFlags(a, cmd.Root())
		_, err := fmt.Fprint(cmd.OutOrStderr(), usage(a, cmd))
		return err
	})
	// help does what --help does: `safrasync help refs set`. It also has a topic, about which act is
	// the right one.
	const use = "help [COMMAND… | decide]"
	root.SetHelpCommand(a.Command(use, "help for a command", cli.AnyArgs, func(_ context.Context, args []string) error {
		if len(args) == 1 && args[0] == "decide" {
			a.Show("help.decide_long")
			return nil
		}
		found, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return a.UnknownCommand(found, rest)
		}
		return found.Help()
	}))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		fault := a.Voice().Fault(flagFault(err))
		// the command takes arguments: a key, a code or a name may begin with a hyphen
		if strings.HasPrefix(err.Error(), "unknown ") && strings.Contains(cmd.Use, " ") {
			fault += a.Text(" (put -- before an argument that starts with -)")
		}
		return a.Usage("%s; see `%s --help`", fault, cmd.CommandPath())
	})
	// --note is an alias of --reason in every command
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "note" {
			name = "reason"
		}
		return pflag.NormalizedName(name)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.InitDefaultCompletionCmd()
	translateExamples(a, root)
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

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/acts"
	"github.com/safrasync/safrasync/cmd/safrasync/api"
	"github.com/safrasync/safrasync/cmd/safrasync/care"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/daemon"
	"github.com/safrasync/safrasync/cmd/safrasync/demo"
	"github.com/safrasync/safrasync/cmd/safrasync/refs"
	"github.com/safrasync/safrasync/cmd/safrasync/report"
	"github.com/safrasync/safrasync/cmd/safrasync/rows"
	"github.com/safrasync/safrasync/cmd/safrasync/runs"
	"github.com/safrasync/safrasync/cmd/safrasync/setup"
	"github.com/safrasync/safrasync/cmd/safrasync/webhooks"
	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
)

// newRootCommand puts the program's commands together.
func newRootCommand(a *cli.App) *cobra.Command {
	showVersion := false
	root := a.Command("safrasync", "help.root", cli.AnyArgs,
		func(cmd *cobra.Command, args []string) error {
			if showVersion && len(args) == 0 {
				return newVersionCommand(a).RunE(cmd, args)
			}
			return a.UnknownCommand(cmd, args)
		})
	root.Flags().BoolVar(&showVersion, "version", false, "show the version of the program")
	root.Long = a.Text("help.root_long")
	root.SilenceErrors, root.SilenceUsage = true, true // execute says once what went wrong
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(a.Out)
	root.SetErr(a.Stderr)
	root.SetUsageTemplate(helpTemplate(a))
	root.SetHelpCommand(newHelpCommand(a))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		fault := flagFault(a, err)
		// it takes arguments: a key, a code or a name may begin so
		if strings.HasPrefix(err.Error(), "unknown ") && strings.Contains(cmd.Use, " ") {
			fault += a.Text("says.dashes")
		}
		return a.Usage("says.flag", fault, cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.ConfigPath, "config", "",
		"configuration `FILE` (default /etc/safrasync/config.yaml, then ./config.yaml)")
	flags.BoolVar(&a.AsJSON, "json", false, "results as JSON, English always; lists have one object a line")
	flags.BoolP("help", "h", false, "show this help")
	root.AddCommand(
		daemon.NewCommand(a), runs.NewSyncCommand(a), care.NewCheckCommand(a), runs.NewStatusCommand(a),
		rows.NewRowsCommand(a), report.NewCommand(a), acts.NewDecisionsCommand(a), rows.NewWhyCommand(a),
		rows.NewPreviewCommand(a), refs.NewCommand(a), rows.NewTestCommand(a), rows.NewExplainCommand(a),
		setup.NewCommand(a), acts.NewRetryCommand(a), acts.NewAdoptCommand(a), acts.NewResendCommand(a),
		acts.NewDismissCommand(a), acts.NewReopenCommand(a), runs.NewResyncCommand(a), acts.NewAuditCommand(a),
		acts.NewAcknowledgeCommand(a), acts.NewPauseCommand(a), acts.NewResumeCommand(a),
		acts.NewReleaseCommand(a), acts.NewJobCommand(a), api.NewCommand(a), webhooks.NewCommand(a),
		newSandboxCommand(a), newConfigCommand(a), newCronCommand(a), newVersionCommand(a), demo.NewCommand(a),
		care.NewSelftestCommand(a), care.NewDoctorCommand(a), care.NewBackupCommand(a),
		care.NewRestoreCommand(a), care.NewRebuildCommand(a), care.NewStateCommand(a), care.NewPurgeCommand(a),
		newUsersCommand(a), acts.NewApprovalsCommand(a), acts.NewDeclineCommand(a),
		acts.NewApproveCommand(a, acts.Elsewhere{
			engine.ActClose: report.Approvable, engine.ActResync: runs.Approvable, engine.ActSetCode: refs.Approvable,
		}),
	)
	return root
}

// flagFault says in the person's language what is wrong with a flag. The library has English texts
// only.
func flagFault(a *cli.App, err error) string {
	text := err.Error()
	for prefix, p := range map[string]i18n.Key{
		"unknown flag: ": "says.no_flag", "unknown shorthand flag: ": "says.no_flag",
		"flag needs an argument: ": "says.flag_needs_value", "invalid argument ": "says.flag_value",
	} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return a.Text(p, rest)
		}
	}
	return text
}

// helpTemplate is cobra's template with our words.
func helpTemplate(a *cli.App) string {
	return a.Text("template.usage") + `:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} ` + a.Text("template.command") + `

` + a.Text("template.commands") + `:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

` + a.Text("template.flags") + `:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

` + a.Text("template.global_flags") + `:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

` + a.Text("template.more") + `{{end}}
`
}

// newHelpCommand makes the command that does what --help does: `safrasync help rows show`.
func newHelpCommand(a *cli.App) *cobra.Command {
	return a.Command("help [COMMAND…]", "help.help", cli.AnyArgs, func(cmd *cobra.Command, args []string) error {
		found, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return a.UnknownCommand(found, rest)
		}
		return found.Help()
	})
}

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
)

// newRootCommand puts the program's commands together.
func newRootCommand(a *App) *cobra.Command {
	root := a.command("safrasync", "help.root", anyArgs,
		func(cmd *cobra.Command, args []string) error { return a.unknownCommand(cmd, args) })
	root.Long = a.text("help.root_long")
	root.SilenceErrors, root.SilenceUsage = true, true // Run says once what went wrong
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(a.out)
	root.SetErr(a.Stderr)
	root.SetUsageTemplate(a.helpTemplate())
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true}) // --help does it
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		fault := a.flagFault(err)
		// it takes arguments: a key, a code or a name may begin so
		if strings.HasPrefix(err.Error(), "unknown ") && strings.Contains(cmd.Use, " ") {
			fault += a.text("says.dashes")
		}
		return a.usage("says.flag", fault, cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.configPath, "config", "",
		"configuration `FILE` (default /etc/safrasync/config.yaml, then ./config.yaml)")
	flags.BoolVar(&a.asJSON, "json", false, "results as JSON, English always; lists have one object a line")
	flags.BoolP("help", "h", false, "show this help")
	root.AddCommand(
		newRunCommand(a), newSyncCommand(a), newCheckCommand(a), newStatusCommand(a), newRowsCommand(a),
		newReportCommand(a), newDecisionsCommand(a), newWhyCommand(a), newPreviewCommand(a), newRefsCommand(a),
		newTestCommand(a), newExplainCommand(a), newInitCommand(a),
		newRetryCommand(a), newAdoptCommand(a), newResendCommand(a), newDismissCommand(a), newReopenCommand(a),
		newResyncCommand(a), newAuditCommand(a),
		newAcknowledgeCommand(a), newPauseCommand(a), newResumeCommand(a), newReleaseCommand(a), newJobCommand(a),
		newAPICommand(a), newWebhooksCommand(a), newSandboxCommand(a), newConfigCommand(a), newCronCommand(a),
		newVersionCommand(a), newDemoCommand(a), newSelftestCommand(a),
		newDoctorCommand(a), newBackupCommand(a), newRestoreCommand(a), newRebuildCommand(a), newStateCommand(a),
		newPurgeCommand(a),
		newUsersCommand(a),
	)
	return root
}

// flagFault says in the person's language what is wrong with a flag. The library has English texts
// only.
func (a *App) flagFault(err error) string {
	text := err.Error()
	for prefix, p := range map[string]i18n.Key{
		"unknown flag: ": "says.no_flag", "unknown shorthand flag: ": "says.no_flag",
		"flag needs an argument: ": "says.flag_needs_value", "invalid argument ": "says.flag_value",
	} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return a.text(p, rest)
		}
	}
	return text
}

// helpTemplate is cobra's template with our words.
func (a *App) helpTemplate() string {
	return a.text("template.usage") + `:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} ` + a.text("template.command") + `

` + a.text("template.commands") + `:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

` + a.text("template.flags") + `:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

` + a.text("template.global_flags") + `:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

` + a.text("template.more") + `{{end}}
`
}

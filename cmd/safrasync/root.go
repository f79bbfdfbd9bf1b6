package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
)

// newRootCommand puts the program's commands together.
func newRootCommand(a *App) *cobra.Command {
	showVersion := false
	root := a.command("safrasync", "help.root", anyArgs,
		func(cmd *cobra.Command, args []string) error {
			if showVersion && len(args) == 0 {
				return newVersionCommand(a).RunE(cmd, args)
			}
			return a.unknownCommand(cmd, args)
		})
	root.Flags().BoolVar(&showVersion, "version", false, "show the version of the program")
	root.Long = a.text("help.root_long")
	root.SilenceErrors, root.SilenceUsage = true, true // Run says once what went wrong
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(a.out)
	root.SetErr(a.Stderr)
	root.SetUsageTemplate(a.helpTemplate())
	root.SetHelpCommand(newHelpCommand(a))
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

// newHelpCommand makes the command that does what --help does: `safrasync help rows show`.
func newHelpCommand(a *App) *cobra.Command {
	return a.command("help [COMMAND…]", "help.help", anyArgs, func(cmd *cobra.Command, args []string) error {
		found, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return a.unknownCommand(found, rest)
		}
		return found.Help()
	})
}

// arity is how many arguments a command takes; most < 0 means any number.
type arity struct{ least, most int }

var anyArgs = arity{0, -1}

func exactly(n int) arity { return arity{n, n} }

// command makes a command whose wrong calls are told in the person's language.
func (a *App) command(use string, short i18n.Key, args arity,
	run func(cmd *cobra.Command, args []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: a.text(short), DisableFlagsInUseLine: true, RunE: run,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) < args.least || args.most >= 0 && len(given) > args.most {
				return a.usage("says.arguments",
					strings.TrimSpace(strings.TrimSuffix(cmd.CommandPath(), cmd.Name())+use))
			}
			return nil
		},
	}
}

// group makes a command that only has sub-commands.
func (a *App) group(use string, short i18n.Key) *cobra.Command {
	return a.command(use, short, anyArgs,
		func(cmd *cobra.Command, args []string) error { return a.unknownCommand(cmd, args) })
}

// unknownCommand shows the help of a command that does nothing by itself, or says which sub-command
// may have been meant.
func (a *App) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return a.usage("says.no_command_but", args[0], cmd.CommandPath(), listed(near))
	}
	return a.usage("says.no_command", args[0], cmd.CommandPath())
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

// listed writes names one after the other.
func listed[T ~string](names []T) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
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

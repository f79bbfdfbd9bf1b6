package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newRootCommand puts the program's commands together.
func newRootCommand(a *App) *cobra.Command {
	root := a.command("safrasync", helpRoot, anyArgs, func(cmd *cobra.Command, args []string) error { return a.unknownCommand(cmd, args) })
	root.Long = a.text(helpRootLong)
	root.SilenceErrors, root.SilenceUsage = true, true // Run says once what went wrong
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(a.out)
	root.SetErr(a.Stderr)
	root.SetUsageTemplate(a.text(helpTemplate))
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true}) // --help does it
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		fault := a.flagFault(err)
		if strings.HasPrefix(err.Error(), "unknown ") && strings.Contains(cmd.Use, " ") { // it takes arguments: a key, a code or a name may begin so
			fault += a.text(saysDashes)
		}
		return a.usage(saysFlag, fault, cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.configPath, "config", "", "configuration `FILE` (default /etc/safrasync/config.yaml, then ./config.yaml)")
	flags.BoolVar(&a.asJSON, "json", false, "results as JSON, English always; lists have one object a line")
	flags.BoolP("help", "h", false, "show this help")
	root.AddCommand(
		newRunCommand(a), newSyncCommand(a), newCheckCommand(a), newStatusCommand(a), newRowsCommand(a), newReportCommand(a), newDecisionsCommand(a), newWhyCommand(a), newPreviewCommand(a), newRefsCommand(a),
		newTestCommand(a), newExplainCommand(a), newInitCommand(a),
		newRetryCommand(a), newAdoptCommand(a), newResendCommand(a), newDismissCommand(a), newReopenCommand(a), newResyncCommand(a), newAuditCommand(a),
		newAcknowledgeCommand(a), newPauseCommand(a), newResumeCommand(a), newReleaseCommand(a), newJobCommand(a),
		newAPICommand(a), newWebhooksCommand(a), newSandboxCommand(a), newConfigCommand(a), newCronCommand(a), newVersionCommand(a), newDemoCommand(a), newSelftestCommand(a),
		newDoctorCommand(a), newBackupCommand(a), newRestoreCommand(a), newRebuildCommand(a), newStateCommand(a), newPurgeCommand(a),
		newUsersCommand(a),
	)
	return root
}

// arity is how many arguments a command takes; most < 0 means any number.
type arity struct{ least, most int }

var anyArgs = arity{0, -1}

func exactly(n int) arity { return arity{n, n} }

// command makes a command whose wrong calls are told in the person's language.
func (a *App) command(use string, short phrase, args arity, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: a.text(short), DisableFlagsInUseLine: true, RunE: run,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) < args.least || args.most >= 0 && len(given) > args.most {
				return a.usage(saysArguments, strings.TrimSpace(strings.TrimSuffix(cmd.CommandPath(), cmd.Name())+use))
			}
			return nil
		},
	}
}

// group makes a command that only has sub-commands.
func (a *App) group(use string, short phrase) *cobra.Command {
	return a.command(use, short, anyArgs, func(cmd *cobra.Command, args []string) error { return a.unknownCommand(cmd, args) })
}

// unknownCommand shows the help of a command that does nothing by itself, or says which sub-command may have been meant.
func (a *App) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return a.usage(saysNoCommandBut, args[0], cmd.CommandPath(), listed(near))
	}
	return a.usage(saysNoCommand, args[0], cmd.CommandPath())
}

// flagFault says in the person's language what is wrong with a flag. The library has English texts only.
func (a *App) flagFault(err error) string {
	text := err.Error()
	for prefix, p := range map[string]phrase{
		"unknown flag: ": saysNoFlag, "unknown shorthand flag: ": saysNoFlag, "flag needs an argument: ": saysFlagNeedsValue, "invalid argument ": saysFlagValue,
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

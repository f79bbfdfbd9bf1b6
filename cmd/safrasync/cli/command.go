package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
)

// Arity is how many arguments a command takes; Most < 0 means any number.
type Arity struct{ Least, Most int }

// AnyArgs allows any number of arguments.
var AnyArgs = Arity{0, -1}

// Exactly requires n arguments.
func Exactly(n int) Arity { return Arity{n, n} }

// Command makes a command whose usage errors are in the person's language.
func (a *App) Command(use string, short i18n.Key, args Arity,
	run func(cmd *cobra.Command, args []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: a.Text(short), DisableFlagsInUseLine: true, RunE: run,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) < args.Least || args.Most >= 0 && len(given) > args.Most {
				if len(given) > 0 && formerly(cmd, given[0]) != "" {
					return a.UnknownCommand(cmd, given)
				}
				return a.Usage("says.arguments",
					strings.TrimSpace(strings.TrimSuffix(cmd.CommandPath(), cmd.Name())+use))
			}
			return nil
		},
	}
}

// formerly returns the command for a word that people type behind another, and that is none; "" if
// there is no such command.
func formerly(cmd *cobra.Command, word string) string {
	return map[string]string{
		"approve": "approvals approve", "audit": "report --audit", "cron": "status --next", "decide": "help decide",
		"decisions": "report --decided", "decline": "approvals decline", "diff": "explain --sent",
		"preview": "why --request", "reload": "run --reload", "rows show": "why", "show": "why", "version": "--version",
	}[strings.TrimPrefix(cmd.CommandPath()+" "+word, "safrasync ")]
}

// Group makes a command that only has sub-commands.
func (a *App) Group(use string, short i18n.Key) *cobra.Command {
	return a.Command(use, short, AnyArgs,
		func(cmd *cobra.Command, args []string) error { return a.UnknownCommand(cmd, args) })
}

// UnknownCommand prints the help of a command that does nothing by itself, or returns a usage error
// that suggests a sub-command.
func (a *App) UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	if now := formerly(cmd, args[0]); now != "" {
		return a.Usage("says.no_command_but", args[0], cmd.CommandPath(), "`safrasync "+now+"`")
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return a.Usage("says.no_command_but", args[0], cmd.CommandPath(), Listed(near))
	}
	return a.Usage("says.no_command", args[0], cmd.CommandPath())
}

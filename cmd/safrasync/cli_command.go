package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
)

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

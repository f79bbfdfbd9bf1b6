package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	run func(ctx context.Context, args []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: a.Text(short), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) < args.Least || args.Most >= 0 && len(given) > args.Most {
				if len(given) > 0 && meant(cmd, given) != "" {
					return a.UnknownCommand(cmd, given)
				}
				return a.Usage("the arguments are: %s",
					strings.TrimSpace(strings.TrimSuffix(cmd.CommandPath(), cmd.Name())+use))
			}
			return nil
		},
	}
}

// Alone reports wrong usage if a flag stands beside one that lets the command do something else, such
// as report --audit, and is not for it. only are flags that mean something with that flag alone.
func (a *App) Alone(cmd *cobra.Command, mode string, only []string, with ...string) (err error) {
	on := cmd.Flags().Changed(mode)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch needs := slices.Contains(only, f.Name); {
		case f.Name == mode || cmd.InheritedFlags().Lookup(f.Name) != nil:
		case on && !needs && !slices.Contains(with, f.Name):
			err = a.Usage("--%s does something else, and does not take --%s", mode, f.Name)
		case !on && needs:
			err = a.Usage("--%s is only for --%s", f.Name, mode)
		}
	})
	return err
}

// meant returns the command for words that people type behind another as if they were one; "" if
// there is no such command.
func meant(cmd *cobra.Command, given []string) string {
	now := map[string]string{
		"approve": "approvals approve", "audit": "report --audit", "audit verify": "doctor --audit",
		"cron": "status --next", "decide": "help decide",
		"decisions": "report --decided", "decline": "approvals decline", "diff": "explain --sent",
		"preview": "why --request", "rows show": "why", "show": "why", "version": "--version",
	}
	for words := min(2, len(given)); words > 0; words-- {
		typed := append([]string{cmd.CommandPath()}, given[:words]...)
		if to := now[strings.TrimPrefix(strings.Join(typed, " "), "safrasync ")]; to != "" {
			return to
		}
	}
	return ""
}

// Group makes a command that only has sub-commands.
func (a *App) Group(use string, short i18n.Key) *cobra.Command {
	cmd := a.Command(use, short, AnyArgs, nil)
	cmd.RunE = a.UnknownCommand
	return cmd
}

// UnknownCommand prints the help of a command that does nothing by itself, or returns a usage error
// that suggests a sub-command.
func (a *App) UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	if now := meant(cmd, args); now != "" {
		return a.Usage("there is no command %q in %s; did you mean %s?", args[0], cmd.CommandPath(), "`safrasync "+now+"`")
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return a.Usage("there is no command %q in %s; did you mean %s?", args[0], cmd.CommandPath(), Listed(near))
	}
	return a.Usage("there is no command %q; `%s --help` lists the commands", args[0], cmd.CommandPath())
}

package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// The exit codes. Services and scripts rely on them; `safrasync --help` lists them.
const (
	ExitDone      = 0  // done; rows may need attention, which the summary reports
	ExitFailed    = 1  // failed: a job stopped, something cannot be reached, a check did not pass
	ExitUsage     = 2  // wrong usage, or an act that was only planned because nobody confirmed it
	ExitAttention = 3  // only with --strict: done, rows need attention
	ExitLeased    = 75 // another process runs this job (EX_TEMPFAIL)
	ExitConfig    = 78 // wrong configuration (EX_CONFIG)
)

// ExitError ends the program with a code. The command has already printed everything that people
// need.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return "the command has said why" }

// ErrFailed is the error of a command that has failed and said why.
var ErrFailed error = &ExitError{ExitFailed}

// FailedIf returns the error of a command that has failed and said why, or nil.
func FailedIf(failed bool) error {
	if failed {
		return ErrFailed
	}
	return nil
}

// UsageError is a wrong call of a command; its text is in the person's language.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// LedgerFault returns why the ledger cannot be used; nil if that is not the error.
func LedgerFault(err error) *state.Error {
	fault, _ := errors.AsType[*state.Error](err)
	return fault
}

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	var exit *ExitError
	var usage *UsageError
	var config *config.Error
	var leased *trade.LeasedError
	var spec *mapping.SpecError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &config), errors.As(err, &spec):
		return ExitConfig
	case LedgerFault(err) != nil && LedgerFault(err).Code == state.CodeConfig:
		return ExitConfig
	case errors.As(err, &leased):
		return ExitLeased
	}
	return ExitFailed
}

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

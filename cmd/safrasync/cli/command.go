package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/text/unicode/norm"

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

// keysOffered is how many keys a shell is offered.
const keysOffered = 100

// CompleteJobs offers the names of the jobs for the first argument.
func (a *App) CompleteJobs(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	config, err := a.LoadConfig()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, job := range config.Jobs {
		if strings.HasPrefix(job.Name, typed) {
			out = append(out, job.Name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteEveryJob offers the names of the jobs for every argument.
func (a *App) CompleteEveryJob(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.CompleteJobs(cmd, nil, typed)
}

// CompleteRows offers the names of the jobs, then the keys of rows in some states, or in any: the
// first few that begin with the typed text.
func (a *App) CompleteRows(states ...trade.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return a.CompleteJobs(cmd, args, typed)
		}
		o, err := a.Office(cmd.Context(), ToRead, NoERP)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		err = o.Rows(cmd.Context(), trade.RowQuery{Jobs: []string{args[0]}, States: states}, func(e trade.Entry) error {
			if strings.HasPrefix(e.Key, typed) {
				out = append(out, e.Key)
			}
			if len(out) == keysOffered {
				return ErrEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrEnough) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// ErrEnough ends a listing.
var ErrEnough = errors.New("enough")

// AddStateFlag adds the flag --state, whose values are accepted and completed in English and in the
// person's language.
func AddStateFlag(a *App, cmd *cobra.Command, into *[]string, usage string, among []trade.State) {
	cmd.Flags().StringSliceVar(into, "state", nil, a.Phrase(usage, strings.Join(stateNames(a, among), ", ")))
	completes(a, cmd, "state", func([]string) []string { return append(stateNames(a, among), Texts(among)...) })
}

// stateNames returns states as people type them: in_doubt, sem-confirmação.
func stateNames(a *App, states []trade.State) []string {
	if a.Lang() == trade.English {
		return Texts(states)
	}
	return trade.Map(states, func(s trade.State) string { return strings.ReplaceAll(label(s, a.Lang()), " ", "-") })
}

// label returns the label of a state without the advice in parentheses.
func label(s trade.State, lang trade.Lang) string {
	name, _, _ := strings.Cut(s.Label(lang), " (")
	return name
}

// ParseStates parses states as people type them, in either language, with or without accents,
// hyphens or blanks. One word is enough if no other state begins with it.
func ParseStates(a *App, typed []string, among []trade.State) ([]trade.State, error) {
	var states []trade.State
	for _, text := range typed {
		var found []trade.State
		given := normalizeName(text)
		for _, s := range among {
			names := trade.Map([]string{string(s), label(s, trade.Portuguese), label(s, trade.English)}, normalizeName)
			if slices.Contains(names, given) {
				found = []trade.State{s}
				break
			}
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, given+" ") }) {
				found = append(found, s)
			}
		}
		if len(found) != 1 {
			return nil, a.Usage("there is no state %q; the states are %s", text, strings.Join(stateNames(a, among), ", "))
		}
		states = append(states, found[0])
	}
	return states, nil
}

// normalizeName reduces a name for comparison: without accents, case, separators of words and the endings
// of gender and number, because rows are enviadas and documents enviados.
func normalizeName(text string) string {
	words := strings.FieldsFunc(norm.NFD.String(strings.ToLower(text)),
		func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	for i, word := range words {
		word = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, word)
		words[i] = strings.TrimRight(strings.TrimSuffix(word, "s"), "ao")
	}
	return strings.Join(words, " ")
}

// AddCauseFlag adds the flag --cause, whose values are completed from the causes that block rows
// now.
func AddCauseFlag(a *App, cmd *cobra.Command, into *[]string, usage string) {
	cmd.Flags().StringSliceVar(into, "cause", nil, usage)
	completes(a, cmd, "cause", func(args []string) []string {
		o, err := a.Office(cmd.Context(), ToRead, NoERP)
		if err != nil {
			return nil
		}
		causes, _ := o.Causes(cmd.Context(), args)
		return causes
	})
}

// completes offers values for a flag that takes a list; it completes the text after the last comma.
func completes(a *App, cmd *cobra.Command, flag string, values func(args []string) []string) {
	offer := func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var out []string
		for _, value := range values(args) {
			if strings.HasPrefix(value, typed[len(before):]) {
				out = append(out, before+value)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	a.offers(cmd, flag, offer)
}

// offers tells the shell what a flag may have, when it asks. The library keeps it as long as the
// process lives, with the command and all that the command holds.
func (a *App) offers(cmd *cobra.Command, flag string, offer cobra.CompletionFunc) {
	if !a.Completing {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err)
	}
}

// CompletesJobs offers jobs for a flag that takes a list of them.
func CompletesJobs(a *App, cmd *cobra.Command, flag string) {
	completes(a, cmd, flag, func([]string) []string {
		names, _ := a.CompleteJobs(cmd, nil, "")
		return names
	})
}

package cli

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/trade"
)

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

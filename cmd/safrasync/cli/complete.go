package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

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

// CompleteRows offers the names of the jobs, and then the keys of rows in some states, or in any:
// the first few that begin with what was typed.
func (a *App) CompleteRows(states ...trade.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return a.CompleteJobs(cmd, args, typed)
		}
		store, err := a.OpenLedger(cmd.Context(), ToRead)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		err = store.Rows(cmd.Context(), trade.RowFilter{Job: args[0], States: states}, func(e trade.Entry) error {
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

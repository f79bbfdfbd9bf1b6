package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/trade"
)

// keysOffered is how many keys a shell is offered.
const keysOffered = 100

// completeJobs offers the names of the jobs for the first argument.
func (a *App) completeJobs(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	config, err := a.loadConfig()
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

// completeEveryJob offers the names of the jobs for every argument.
func (a *App) completeEveryJob(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeJobs(cmd, nil, typed)
}

// completeRows offers the names of the jobs, and then the keys of rows in some states, or in any:
// the first few that begin with what was typed.
func (a *App) completeRows(states ...trade.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return a.completeJobs(cmd, args, typed)
		}
		store, err := a.openLedger(cmd.Context(), toRead)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		err = store.Rows(cmd.Context(), trade.RowFilter{Job: args[0], States: states}, func(e trade.Entry) error {
			if strings.HasPrefix(e.Key, typed) {
				out = append(out, e.Key)
			}
			if len(out) == keysOffered {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// errEnough ends a listing.
var errEnough = errors.New("enough")

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
)

func newStateNewCommand(a *App) *cobra.Command {
	return a.command("new", "help.state_new", exactly(0),
		func(cmd *cobra.Command, _ []string) error { return a.newState(cmd.Context()) })
}

// newState begins the ledger that the configuration names. No other command does.
func (a *App) newState(ctx context.Context) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	store, err := state.New(ctx, a.ledgerOptions(config, toWrite))
	if err != nil {
		return err
	}
	a.closers = append(a.closers, store.Close)
	if a.asJSON {
		return a.printJSON(struct {
			Ledger  string `json:"ledger"`
			Where   string `json:"where"`
			Journal string `json:"journal"`
		}{store.LedgerID(), store.Where(), store.JournalFolder()})
	}
	a.show("state.new_done", store.Where(), store.LedgerID(), store.JournalFolder())
	return nil
}

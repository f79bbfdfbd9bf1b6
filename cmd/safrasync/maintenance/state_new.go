package maintenance

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
)

// newStateNewCommand makes the one command that creates a ledger.
func newStateNewCommand(a *cli.App) *cobra.Command {
	return a.Command("new", "create the ledger that the configuration names; only at the first set-up", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			_, options, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			store, err := state.New(ctx, options)
			if err != nil {
				return err
			}
			a.Closers = append(a.Closers, store.Close)
			if a.AsJSON {
				return a.PrintJSON(struct {
					Ledger  string `json:"ledger"`
					Where   string `json:"where"`
					Journal string `json:"journal"`
				}{store.LedgerID(), store.Where(), store.JournalFolder()})
			}
			a.Show("state.new_done", store.Where(), store.LedgerID(), store.JournalFolder())
			return nil
		})
}

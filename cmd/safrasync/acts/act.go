package acts

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewAcknowledgeCommand makes the command acknowledge.
func NewAcknowledgeCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	cmd := a.Command("acknowledge JOB KEY… --reason TEXT", "help.acknowledge", cli.Arity{Least: 2, Most: -1},
		func(cmd *cobra.Command, args []string) error {
			// Acknowledge clears the flags of rows that a person has dealt with.
			return decide(cmd.Context(), a, args[0], args[1:], f, "ack.plan",
				func(ctx context.Context, acts *engineacts.Acts, keys []string) (engineacts.RowPlan, error) {
					return acts.Acknowledge(ctx, args[0], keys)
				})
		})
	f.Add(cmd)
	cmd.ValidArgsFunction = a.CompleteRows(trade.Accepted)
	return cmd
}

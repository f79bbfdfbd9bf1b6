package acts

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/trade"
)

// NewAcknowledgeCommand makes the command acknowledge.
func NewAcknowledgeCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	cmd := a.Command("acknowledge JOB KEY… --reason TEXT", "help.acknowledge", cli.Arity{Least: 2, Most: -1},
		func(cmd *cobra.Command, args []string) error {
			return acknowledge(cmd.Context(), a, args[0], args[1:], f)
		})
	f.Add(cmd)
	cmd.ValidArgsFunction = a.CompleteRows(trade.Accepted)
	return cmd
}

// acknowledge clears the flags of rows that a person has dealt with.
func acknowledge(ctx context.Context, a *cli.App, job string, keys []string, f cli.ActFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if err := a.NeedReason(f); err != nil {
		return err
	}
	if keys, err = KeysOf(a, config, job, keys); err != nil {
		return err
	}
	acts, err := a.OpenActs(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	plan, err := acts.Acknowledge(ctx, job, keys)
	if err != nil {
		return err
	}
	return actOnRows(ctx, a, plan, rowActFlags{ActFlags: f, count: -1}, "ack.plan")
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/trade"
)

func newAcknowledgeCommand(a *App) *cobra.Command {
	var f actFlags
	cmd := a.command("acknowledge JOB KEY… --reason TEXT", "help.acknowledge", arity{2, -1},
		func(cmd *cobra.Command, args []string) error {
			return a.acknowledge(cmd.Context(), args[0], args[1:], f)
		})
	f.add(cmd)
	cmd.ValidArgsFunction = a.completeRows(trade.Accepted)
	return cmd
}

// acknowledge clears the flags of rows that a person has dealt with.
func (a *App) acknowledge(ctx context.Context, job string, keys []string, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	if keys, err = a.keysOf(config, job, keys); err != nil {
		return err
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	plan, err := acts.Acknowledge(ctx, job, keys)
	if err != nil {
		return err
	}
	return a.actOnRows(ctx, plan, rowActFlags{actFlags: f, count: -1}, "ack.plan")
}

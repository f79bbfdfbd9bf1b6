package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func newStateRebindCommand(a *App) *cobra.Command {
	var f actFlags
	cmd := a.command("rebind --reason TEXT", "help.state_rebind", exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			return a.rebindState(cmd.Context(), f)
		})
	f.add(cmd)
	return cmd
}

// rebindState lets the ledger belong to the address that is configured and to the server that it
// stands on, after showing what a person confirms by it.
func (a *App) rebindState(ctx context.Context, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	options, platform := a.ledgerOptions(config, toWrite), config.API.platform()
	plan, err := state.Rebind(ctx, options, platform, false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	a.tellRebind(plan)
	if plan.Platform == nil && plan.Server == nil {
		if a.asJSON {
			return a.printJSON(plan)
		}
		return nil
	}
	if err := a.confirmed(f); err != nil {
		return err
	}
	record, err := a.audit(f, "state rebind", "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = state.Rebind(ctx, options, platform, true, record); err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(plan)
	}
	a.show("rebind.done")
	return nil
}

func (a *App) tellRebind(plan state.RebindPlan) {
	if plan.Platform == nil && plan.Server == nil {
		a.tell("rebind.nothing")
		return
	}
	if p := plan.Platform; p != nil {
		was := p.Was
		if was == "" {
			was = a.text("rebind.nowhere")
		}
		a.tell("rebind.platform", was, p.Is, plan.Accepted, plan.Doubts)
	}
	if p := plan.Server; p != nil {
		a.tell("rebind.server", p.Was, p.Is, plan.Accepted, plan.Doubts)
	}
	if plan.Journal == "" {
		a.tell("rebind.journal_ok")
	} else {
		a.tell("rebind.journal", plan.Journal)
	}
	for _, h := range plan.Hosts {
		a.tell("rebind.host", h.Host, h.Path, h.Records, a.voice().moment(h.Last))
	}
}

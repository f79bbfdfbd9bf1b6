package care

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func newStateRebindCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	cmd := a.Command("rebind --reason TEXT", "help.state_rebind", cli.Exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			return rebindState(cmd.Context(), a, f)
		})
	f.Add(cmd)
	return cmd
}

// rebindState binds the ledger to the configured address and to the database server that it is on
// now. It first shows what a person confirms by that.
func rebindState(ctx context.Context, a *cli.App, f cli.ActFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	options, platform := a.LedgerOptions(config, cli.ToWrite), config.API.Platform()
	return onLedger(a, f, "state rebind", func(do bool, record trade.AuditRecord) (state.RebindPlan, error) {
		return state.Rebind(ctx, options, platform, do, record)
	}, func(plan state.RebindPlan) bool { return tellRebind(a, plan) },
		func(state.RebindPlan) { a.Show("rebind.done") })
}

// tellRebind prints what would be confirmed. It reports whether there is anything to confirm.
func tellRebind(a *cli.App, plan state.RebindPlan) bool {
	if plan.Platform == nil && plan.Server == nil {
		a.Tell("rebind.nothing")
		return false
	}
	if p := plan.Platform; p != nil {
		was := p.Was
		if was == "" {
			was = a.Text("rebind.nowhere")
		}
		a.Tell("rebind.platform", was, p.Is, plan.Accepted, plan.Doubts)
	}
	if p := plan.Server; p != nil {
		a.Tell("rebind.server", p.Was, p.Is, plan.Accepted, plan.Doubts)
	}
	if plan.Journal == "" {
		a.Tell("rebind.journal_ok")
	} else {
		a.Tell("rebind.journal", plan.Journal)
	}
	for _, h := range plan.Hosts {
		a.Tell("rebind.host", h.Host, h.Path, h.Records, a.Voice().Moment(h.Last))
	}
	return true
}

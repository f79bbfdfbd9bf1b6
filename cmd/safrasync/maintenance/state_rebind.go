package maintenance

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func newStateRebindCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var order state.RebindOrder
	cmd := a.Command("rebind --reason TEXT", "confirm that the platform's address, or the ledger's PostgreSQL server, has changed", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			config, options, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			order.Platform = config.API.Platform()
			return onLedger(a, f, "state rebind", func(do bool, record trade.AuditRecord) (state.RebindPlan, error) {
				order.Apply = do
				return state.Rebind(ctx, options, order, record)
			}, func(plan state.RebindPlan) bool { return tellRebind(a, plan) },
				func(state.RebindPlan) { a.Show("Done. The next run sends.") })
		})
	f.Add(cmd)
	cmd.Flags().StringArrayVar(&order.Gone, "gone", nil,
		"a host that is gone for ever, whose journal nobody can compare (repeatable)")
	cmd.Flags().StringVar(&order.OldServerOff, "old-server-off", "",
		"`TEXT`: who switched the old database server off, and how; required with --gone")
	return cmd
}

// tellRebind prints what would be confirmed. It reports whether there is anything to confirm.
func tellRebind(a *cli.App, plan state.RebindPlan) bool {
	server := plan.Server != nil || plan.Back.Error() != "" || plan.Asked
	gone := slices.ContainsFunc(plan.Hosts, func(h state.RebindHost) bool { return h.Gone })
	if plan.Platform == nil && !server && !gone {
		a.Tell("There is nothing to confirm: address and server are the ones that the ledger knows.")
		return false
	}
	if p := plan.Platform; p != nil {
		was := p.Was
		if was == "" {
			was = a.Text("an unknown place")
		}
		a.Tell("rebind.platform", was, p.Is, plan.Accepted, plan.Doubts)
	}
	if p := plan.Server; p != nil {
		a.Tell("rebind.server", p.Was, p.Is, plan.Accepted, plan.Doubts)
	}
	if plan.Back.Error() != "" {
		a.Tell("%s.", plan.Back)
	} else if plan.Server == nil && plan.Asked {
		a.Tell("A host found that this ledger may lack something, and all hosts were asked to report. Nothing is sent until it is confirmed.")
	}
	if server {
		a.Tell("rebind.fence")
	}
	if plan.Journal == "" {
		a.Tell("Journal of this host: the ledger has everything in it.")
	} else {
		a.Tell("rebind.journal", plan.Journal)
	}
	for _, h := range plan.Hosts {
		key := i18n.Key("rebind.host")
		switch {
		case h.Gone:
			key = "rebind.host_gone"
		case h.Reported && plan.Asked:
			key = "Journal of the host %s (%s; %d {record|records} until %s): the host has reported that the ledger has everything in it."
		}
		a.Tell(key, h.Host, h.Path, h.Records, a.Voice().Moment(h.Last))
		if h.Server != nil {
			a.Tell("The server from which it worked last: %s.", h.Server)
		}
	}
	return true
}

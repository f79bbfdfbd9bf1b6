package maintenance

import (
	"slices"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
)

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

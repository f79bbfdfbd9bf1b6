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
		a.Tell("The ledger has sent to %s; api.base_url is %s. Confirm only if it is the same platform at another address: %d accepted {row|rows} and %d in doubt count as sent to it and are not sent again. For another platform (test, then production): `safrasync state new`.", was, p.Is, plan.Accepted, plan.Doubts)
	}
	if p := plan.Server; p != nil {
		a.Tell("The ledger was on %s; now it is on %s, with %d accepted {row|rows} and %d in doubt. A replica that was promoted while it lagged behind, or a restored copy, lacks the latest sendings; only the journals know them.", p.Was, p.Is, plan.Accepted, plan.Doubts)
	}
	if plan.Back.Error() != "" {
		a.Tell("%s.", plan.Back)
	} else if plan.Server == nil && plan.Asked {
		a.Tell("A host found that this ledger may lack something, and all hosts were asked to report. Nothing is sent until it is confirmed.")
	}
	if server {
		a.Tell("The old server must be off, or cut off from every host (fenced): a host that still reaches it goes on sending from it, and every row goes twice. Make sure before you confirm.")
	}
	if plan.Journal == "" {
		a.Tell("Journal of this host: the ledger has everything in it.")
	} else {
		a.Tell("Journal of this host: %s\n  → settle this first; nothing is confirmed until then.", plan.Journal)
	}
	for _, h := range plan.Hosts {
		key := i18n.Key("Journal of the host %s (%s; %d {record|records} until %s): only that host can compare it, and it has not reported. Start the service there, or run `safrasync check` and, if something is missing, `safrasync rebuild`. Only if the host is gone for ever: --gone with its name, and --old-server-off.")
		switch {
		case h.Gone:
			key = "Journal of the host %s (%s; %d {record|records} until %s): you say that the host is gone for ever. What it sent last is known to nobody: look for it on the platform first."
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

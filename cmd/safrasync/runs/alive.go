package runs

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
)

// alive is a container's health check. It returns an error (exit code 1) unless a `safrasync run`
// on this host serves the ledger and has reported itself within the last minutes. It connects to
// nothing but the ledger.
func alive(ctx context.Context, a *cli.App) error {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	services, err := store.Services(ctx)
	if err != nil {
		return err
	}
	host := state.Self().Host
	for _, s := range services {
		if !s.Dead && s.Owner.Host == host {
			if a.AsJSON {
				return a.PrintJSON(office.Service{
					Alive: true, Since: s.Since, Seen: s.Seen, Version: s.Version, Host: s.Owner.Host, PID: s.Owner.PID,
				})
			}
			a.Show("status.service", a.Voice().Moment(s.Since), s.Version, s.Owner.PID, s.Owner.Host)
			return nil
		}
	}
	a.Tell("status.not_alive")
	return &cli.ExitError{Code: cli.ExitFailed}
}

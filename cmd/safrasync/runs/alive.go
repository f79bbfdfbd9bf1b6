package runs

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
)

// alive is a container's health check. It returns an error (exit code 1) unless a `safrasync run`
// on this host serves the ledger and has reported itself within the last minutes. It connects to
// nothing but the ledger.
func alive(ctx context.Context, a *cli.App) error {
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	service, err := o.ServiceHere(ctx)
	switch {
	case err != nil:
		return err
	case service == nil:
		a.Tell("status.not_alive")
		return &cli.ExitError{Code: cli.ExitFailed}
	case a.AsJSON:
		return a.PrintJSON(service)
	}
	printServices(a, []office.Service{*service})
	return nil
}

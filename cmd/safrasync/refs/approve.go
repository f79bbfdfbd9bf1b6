package refs

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
)

// Approvable is ApprovableIn for the command line.
func Approvable(a *cli.App) acts.OtherAct {
	return office.ApprovableIn(func(ctx context.Context) (*state.Store, error) {
		return a.OpenLedger(ctx, cli.ToWrite)
	})
}

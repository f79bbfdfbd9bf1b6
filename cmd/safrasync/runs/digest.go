package runs

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
)

// printDigest prints the digest of the time since the last one.
func printDigest(ctx context.Context, a *cli.App) error {
	if _, err := a.LoadConfig(); err != nil {
		return err
	}
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	service, err := office.Alerts(a.Config, a.Voice(), store, a.Logger())
	if err != nil {
		return err
	}
	digest, text, err := service.Digest(ctx)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(digest)
	}
	a.Block(text)
	return nil
}

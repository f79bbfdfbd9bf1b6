package runs

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// printDigest prints the digest of the time since the last one.
func printDigest(ctx context.Context, a *cli.App) error {
	if _, err := a.LoadConfig(); err != nil {
		return err
	}
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	digest, text, err := o.Digest(ctx)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(digest)
	}
	a.Block(text)
	return nil
}

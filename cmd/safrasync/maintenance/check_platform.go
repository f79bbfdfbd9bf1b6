package maintenance

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// platform checks that the ledger belongs to the configured platform.
func (c *checker) platform(ctx context.Context, store *state.Store) {
	const name = "platform"
	err := store.Belongs(ctx, c.app.Config.API.Platform())
	var other *trade.OtherPlatformError
	switch {
	case errors.As(err, &other):
		c.fail(name, "check.platform_hint", "check.platform_other", other.Ledger, other.Accepted,
			other.Doubts, other.Now)
	case err != nil:
		c.ledgerFault(name, err)
	default:
		c.pass(name, "check.platform_ok", c.app.Config.API.Platform())
	}
}

package maintenance

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/office"
)

// tellOne sends a test message.
func (c *checker) tellOne(ctx context.Context, channel alert.Channel, target string) {
	to := cmp.Or(alert.AddressOf(target), fmt.Sprint(channel))
	m := alert.TestMessage(alert.Config{
		Lang: c.app.Lang(), Zone: c.app.Config.Zone(), Name: c.app.Config.Alerts.Name, Now: office.Now,
		Console: c.app.Config.Console.PublicURL,
	})
	m.ID = uuid.NewString()
	if err := channel.Send(ctx, target, m); err != nil {
		c.fail("alerts", "correct alerts in the configuration, or contact the server's administrator; then repeat", "test not delivered: %s (%v)", to, err)
		return
	}
	c.pass("alerts", "test delivered: %s", to)
}

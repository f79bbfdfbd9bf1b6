package maintenance

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/office"
)

// alerts checks the alert channels; with tell it sends a test message to every target.
func (c *checker) alerts(ctx context.Context, tell bool) {
	const name = "alerts"
	config := c.app.Config
	channels, err := office.Channels(config)
	switch {
	case err != nil:
		c.fail(name, "check.config_hint", "check.fault", err)
	case len(channels) == 0 && tell:
		c.fail(name, "check.nobody_hint", "check.nobody")
	}
	c.heartbeat(len(channels) > 0)
	for _, channel := range channels {
		targets := alert.AllTargets(channel)
		if !tell {
			c.pass(name, "check.alerts_ok", channel, len(targets))
			continue
		}
		for _, target := range targets {
			c.tellOne(ctx, channel, target)
		}
	}
}

// heartbeat says whether somebody learns that the service does not run. It calls nothing.
func (c *checker) heartbeat(alerts bool) {
	heartbeat, err := office.NewHeartbeat(c.app.Config, nil, nil, nil)
	switch {
	case err != nil: // alerts has said so
	case heartbeat != nil:
		c.pass("heartbeat", "check.heartbeat_ok", heartbeat)
	case alerts:
		c.warn("heartbeat", "check.heartbeat_hint", "check.heartbeat_none")
	}
}

// tellOne sends a test message.
func (c *checker) tellOne(ctx context.Context, channel alert.Channel, target string) {
	const name = "alerts"
	to := cmp.Or(alert.AddressOf(target), fmt.Sprint(channel))
	m := alert.TestMessage(alert.Config{
		Lang: c.app.Lang(), Zone: c.app.Config.Zone(), Name: c.app.Config.Alerts.Name, Now: office.Now,
		Console: c.app.Config.Console.PublicURL,
	})
	m.ID = uuid.NewString()
	if err := channel.Send(ctx, target, m); err != nil {
		c.fail(name, "check.alert_hint", "check.alert_failed", to, err)
		return
	}
	c.pass(name, "check.alert_sent", to)
}

package apiclient

import "time"

// SetReadBackoff shortens the pauses between the tries of a GET.
func (c *Client) SetReadBackoff(d time.Duration) { c.readBackoff = d }

// SetIdleMost shortens how long connections that are dialled from now on may be idle.
func SetIdleMost(c *Client, d time.Duration) { c.dialer.idleMost = d }

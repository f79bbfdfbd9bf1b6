package apiclient

import "time"

// SetReadBackoff shortens the pauses between the tries of a GET.
func (c *Client) SetReadBackoff(d time.Duration) { c.readBackoff = d }

package sandbox

import "time"

// SetGrace sets how long Close waits.
func SetGrace(r *Running, d time.Duration) { r.grace = d }

// ReceiverTimeout is how long the sandbox waits for a receiver.
func ReceiverTimeout(r *Running) time.Duration { return r.receivers.Timeout }

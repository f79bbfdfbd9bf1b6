package sandbox

import (
	"os"
	"time"
)

// SetGrace sets how long Close waits.
func SetGrace(r *Running, d time.Duration) { r.grace = d }

// ReceiverTimeout is how long the sandbox waits for a receiver.
func ReceiverTimeout(r *Running) time.Duration { return r.receivers.Timeout }

// BreakState makes writes of the state file fail, as a full disk does.
func BreakState(r *Running) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	name := r.state.file.Name()
	_ = r.state.file.Close()
	readOnly, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	r.state.file = readOnly
}

package runs

import (
	"time"
)

// nextJSON is one line of `status --next --json`.
type nextJSON struct {
	Job      string      `json:"job"`
	What     string      `json:"what"` // run or sweep
	Schedule string      `json:"schedule"`
	Next     []time.Time `json:"next"`
}

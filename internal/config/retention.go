package config

import (
	"time"

	"github.com/safrasync/safrasync/state"
)

// RetentionConfig is how long data is kept that is no longer needed; 0s = for ever. It has no key
// for what prevents a duplicate, which is kept for ever.
type RetentionConfig struct {
	Schedule string        `yaml:"schedule"` // when the daemon applies it
	Bodies   time.Duration `yaml:"bodies"`
	Audit    time.Duration `yaml:"audit"`
}

// Ledger returns the retention in the ledger's form: what is configured, and what is the same
// everywhere.
func (r RetentionConfig) Ledger() state.Retention {
	return state.Retention{
		Bodies: r.Bodies, Runs: 400 * day, IdleRuns: 30 * day, Lookups: 400 * day, Inbox: 30 * day,
		Audit: r.Audit, Journal: 256 << 20,
	}
}

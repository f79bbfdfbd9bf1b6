package config

import (
	"time"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
)

// RetentionConfig is how long data is kept that is no longer needed; 0s = for ever. It has no key
// for what prevents a duplicate, which is kept for ever.
type RetentionConfig struct {
	Schedule string        `yaml:"schedule"` // when the daemon applies it
	Bodies   time.Duration `yaml:"bodies"`
	Audit    time.Duration `yaml:"audit"`
}

const oneDay = 24 * time.Hour

func defaultRetention() RetentionConfig {
	return RetentionConfig{Schedule: "30 2 * * *", Bodies: 180 * oneDay, Audit: 1826 * oneDay}
}

func (c *Config) checkRetention(d *Decoder) {
	r := c.Retention
	if _, err := clock.ParseSchedule(r.Schedule, c.zone); err != nil && !d.faulty("retention.schedule") &&
		c.zone != nil {
		d.Fault("retention.schedule", "%w", err)
	}
	for _, k := range []struct {
		name        string
		keep, least time.Duration
	}{{"bodies", r.Bodies, 30 * oneDay}, {"audit", r.Audit, 366 * oneDay}} {
		if path := "retention." + k.name; k.keep != 0 && k.keep < k.least && !d.faulty(path) {
			d.Fault(path, "must be at least %dd, or 0s for ever", int(k.least/oneDay))
		}
	}
}

// Ledger returns the retention in the ledger's form: what is configured, and what is the same
// everywhere.
func (r RetentionConfig) Ledger() state.Retention {
	return state.Retention{
		Bodies: r.Bodies, Runs: 400 * oneDay, IdleRuns: 30 * oneDay, Lookups: 400 * oneDay, Inbox: 30 * oneDay,
		Audit: r.Audit, Journal: 256 << 20,
	}
}

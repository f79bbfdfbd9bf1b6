package config

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
)

// RetentionConfig is how long data is kept that is no longer needed; 0s = for ever. It has no key
// for what prevents a duplicate, which is kept for ever.
type RetentionConfig struct {
	Schedule string        `yaml:"schedule"` // when the daemon applies it
	Bodies   time.Duration `yaml:"bodies"`
	Runs     time.Duration `yaml:"runs"`
	IdleRuns time.Duration `yaml:"idle_runs"`
	Lookups  time.Duration `yaml:"lookups"`
	Inbox    time.Duration `yaml:"inbox"`
	Audit    time.Duration `yaml:"audit"`
	Journal  ByteSize      `yaml:"journal"`
}

// ByteSize is a number of bytes; in the file it has a unit: 256MiB.
type ByteSize int64

const oneDay = 24 * time.Hour

func defaultRetention() RetentionConfig {
	return RetentionConfig{
		Schedule: "30 2 * * *", Bodies: 180 * oneDay, Runs: 400 * oneDay, IdleRuns: 30 * oneDay, Lookups: 400 * oneDay,
		Inbox: 30 * oneDay, Audit: 1826 * oneDay, Journal: 256 << 20,
	}
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
	}{
		{"bodies", r.Bodies, 30 * oneDay},
		{"runs", r.Runs, 30 * oneDay},
		{"idle_runs", r.IdleRuns, oneDay},
		{"lookups", r.Lookups, 7 * oneDay},
		{"inbox", r.Inbox, 7 * oneDay},
		{"audit", r.Audit, 366 * oneDay},
	} {
		if path := "retention." + k.name; k.keep != 0 && k.keep < k.least && !d.faulty(path) {
			d.Fault(path, "must be at least %dd, or 0s for ever", int(k.least/oneDay))
		}
	}
	if r.Journal != 0 && r.Journal < 1<<20 && !d.faulty("retention.journal") {
		d.Fault("retention.journal", "must be at least 1MiB, or 0MiB for ever")
	}
}

var byteSizeForm = regexp.MustCompile(`^([0-9]{1,6})(KiB|MiB|GiB)$`)

var byteUnits = map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// Decode reads a size with its unit.
func (b *ByteSize) Decode(d *Decoder, e Entry) {
	text, ok := d.word(e)
	if !ok {
		return
	}
	m := byteSizeForm.FindStringSubmatch(text)
	if m == nil {
		d.Fault(e.Path, "must be a size with its unit, as in 256MiB or 1GiB")
		return
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		d.Fault(e.Path, "%w", err)
		return
	}
	*b = ByteSize(n * byteUnits[m[2]])
}

// String formats a size as Decode reads it.
func (b ByteSize) String() string {
	for _, unit := range []string{"GiB", "MiB"} {
		if n := int64(b); n > 0 && n%byteUnits[unit] == 0 {
			return fmt.Sprint(n/byteUnits[unit], unit)
		}
	}
	return fmt.Sprint(int64(b)>>10, "KiB")
}

// Ledger returns the retention in the ledger's form.
func (r RetentionConfig) Ledger() state.Retention {
	return state.Retention{
		Bodies: r.Bodies, Runs: r.Runs, IdleRuns: r.IdleRuns, Lookups: r.Lookups, Inbox: r.Inbox,
		Audit: r.Audit, Journal: int64(r.Journal),
	}
}

// When the platform is asked again for a record that it lacks.

package run

import (
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
)

// NextAsk returns when the platform is asked again for a record that it lacks; the zero time when a
// person decides.
func NextAsk(first time.Time, tries int, now time.Time) time.Time {
	wait := askDaily
	if tries <= len(askAfter) {
		wait = askAfter[tries-1]
	}
	if next := now.Add(wait); next.Before(first.Add(askFor)) {
		return next
	}
	return mapping.NoTime
}

// The platform is asked again after 15 minutes, 1 hour, 6 hours, then daily, for 45 days; then a
// person decides.
var askAfter = []time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour}

// How often, how long and how many times the platform is asked again.
const (
	askDaily = 24 * time.Hour
	askFor   = 45 * 24 * time.Hour
	AskMost  = 3 + 45 // questions that this makes
)

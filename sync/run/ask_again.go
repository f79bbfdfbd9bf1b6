// When a row that was rejected for a missing record of the platform is tried again.

package run

import (
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
)

// NextAsk returns when the platform is asked again for a record that it lacks, or the zero time if
// a person must decide. first is the time of the first question, tries is how many were asked.
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

// The platform is asked again after 15 minutes, 1 hour, 6 hours, then daily, for 45 days in all;
// then a person decides.
var askAfter = []time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour}

// How often and how long the platform is asked again.
const (
	askDaily = 24 * time.Hour
	askFor   = 45 * 24 * time.Hour
	AskMost  = 3 + 45 // the most questions that this schedule allows
)

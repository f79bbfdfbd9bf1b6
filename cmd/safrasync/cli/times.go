package cli

import (
	"strconv"
	"strings"
	"time"
)

// ParseSince parses an age (2h, 7d), a day in the cooperative's zone, or an instant. It returns
// false for any other text.
func ParseSince(since string, now time.Time, zone *time.Location) (time.Time, bool) {
	if days, ok := strings.CutSuffix(since, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), true
		}
	}
	if age, err := time.ParseDuration(since); err == nil && age >= 0 {
		return now.Add(-age), true
	}
	for _, layout := range []string{time.DateOnly, "02/01/2006", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, since, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

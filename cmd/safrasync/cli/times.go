package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/trade"
)

// NextTimes returns the next few times of a schedule after a moment, in UTC.
func NextTimes(schedule cron.Schedule, at time.Time) []time.Time {
	out := []time.Time{}
	for range cronTimes {
		if at = schedule.Next(at); at.IsZero() {
			break
		}
		out = append(out, at.UTC())
	}
	return out
}

// NextRuns returns the next few times at which a job runs by its schedule, counted from a moment.
// While a stop holds it, the first is the end of the stop.
func NextRuns(schedule cron.Schedule, status trade.JobStatus, from, now time.Time) []time.Time {
	until := status.Resting(now)
	if until.Equal(now) {
		return NextTimes(schedule, from)
	}
	times := append([]time.Time{until.UTC()}, NextTimes(schedule, until)...)
	return times[:min(len(times), cronTimes)]
}

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

// cronTimes is how many of the next times are shown.
const cronTimes = 5

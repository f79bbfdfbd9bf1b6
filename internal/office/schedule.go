package office

import (
	"time"

	"github.com/robfig/cron/v3"
	"github.com/safrasync/safrasync/trade"
)

// NextTimes returns the next few times of a schedule after a moment, in UTC.
func NextTimes(schedule cron.Schedule, at time.Time) []time.Time {
	out := []time.Time{}
	for range cronTimes {
		at = schedule.Next(at)
		if at.IsZero() {
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

// cronTimes is how many of the next times are shown.
const cronTimes = 5

// Schedule is a job with its schedules.
type Schedule struct {
	Job    string
	Sends  trade.Kind
	Times  []ScheduleTimes
	Hours  []string // hours in which it may send; none: always
	Status trade.JobStatus
	Alone  bool // it runs by hand only
}

// ScheduleTimes is one schedule of a job.
type ScheduleTimes struct {
	Sweep bool
	Text  string // as configured
	Words string
	Next  []time.Time
}

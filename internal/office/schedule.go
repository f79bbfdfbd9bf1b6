package office

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// nextTimes returns the next few times of a schedule after a moment, in UTC.
func nextTimes(schedule cron.Schedule, at time.Time) []time.Time {
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

// nextRuns returns the next few times at which a job runs by its schedule. While a stop holds it, the
// first is the end of the stop. last is when its last run began; zero: it never ran.
func nextRuns(schedule cron.Schedule, status trade.JobStatus, last, now time.Time) []time.Time {
	if until := status.Resting(now); until.After(now) {
		times := append([]time.Time{until.UTC()}, nextTimes(schedule, until)...)
		return times[:min(len(times), cronTimes)]
	}
	// @every counts from the last run, not from now
	if _, distance := schedule.(cron.ConstantDelaySchedule); distance && last.Before(now) &&
		schedule.Next(last).After(now) {
		return nextTimes(schedule, last)
	}
	return nextTimes(schedule, now)
}

// NextRuns returns the next few times at which a job runs; none: it runs by hand only.
func (o *Office) NextRuns(ctx context.Context, job string) ([]time.Time, error) {
	_, spec := o.job(job)
	if spec.Schedule == "" {
		return nil, nil
	}
	schedule, err := clock.ParseSchedule(spec.Schedule, o.conf.Zone())
	if err != nil {
		return nil, err
	}
	status, err := o.JobStatus(ctx, job)
	if err != nil {
		return nil, err
	}
	runs, err := o.Runs(ctx, job, 1)
	if err != nil || len(runs) == 0 {
		return nextRuns(schedule, status, time.Time{}, o.now()), err
	}
	return nextRuns(schedule, status, runs[0].StartedAt, o.now()), nil
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
	Job   string      `json:"job"`
	What  string      `json:"what"`     // run or sweep
	Text  string      `json:"schedule"` // as configured
	Words string      `json:"-"`
	Next  []time.Time `json:"next"`
}

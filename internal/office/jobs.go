package office

import (
	"context"
	"slices"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Schedules returns the jobs with their schedules and states.
func (o *Office) Schedules(ctx context.Context, lang trade.Lang) ([]Schedule, error) {
	v, zone := o.Voice(lang), o.conf.Zone()
	var out []Schedule
	for _, job := range o.jobs {
		status, err := o.JobStatus(ctx, job.Name())
		if err != nil {
			return nil, err
		}
		s := Schedule{
			Job: job.Name(), Sends: job.Spec.Sends, Hours: job.Spec.Hours, Status: status,
			Alone: true,
		}
		for _, times := range []ScheduleTimes{
			{What: "run", Text: job.Spec.Schedule}, {What: "sweep", Text: job.Spec.Sweep},
		} {
			if times.Text == "" {
				continue
			}
			schedule, err := clock.ParseSchedule(times.Text, zone)
			if err != nil {
				return nil, err
			}
			times.Job, times.Words = job.Name(), v.ExplainCron(times.Text)
			if times.What == "sweep" {
				times.Next = nextTimes(schedule, status.Resting(o.now()))
			} else {
				times.Next, err = o.NextRuns(ctx, job.Name())
			}
			if err != nil {
				return nil, err
			}
			s.Alone = s.Alone && len(times.Next) == 0
			s.Times = append(s.Times, times)
		}
		out = append(out, s)
	}
	return out, nil
}

// EndedByPerson reports whether a job has a stop that only a person ends.
func EndedByPerson(s trade.JobStatus) bool { return acts.EndedByPerson(s) }

// PlanJob returns what an order for a job would do: pause, resume, release, run. It changes nothing.
func (o *Office) PlanJob(ctx context.Context, order acts.Order, who trade.Person) (acts.JobPlan, error) {
	if err := mayRole(who, order.Role()); err != nil {
		return acts.JobPlan{}, err
	}
	return o.acts().PlanJob(ctx, order, who)
}

// DoJob does what a plan shows. Its refusal is acts.Moved if the job is another one by now.
func (o *Office) DoJob(ctx context.Context, plan acts.JobPlan, who trade.Person) (acts.JobPlan, error) {
	if err := may(who, plan.Act); err != nil {
		return plan, err
	}
	if plan.Act == acts.ActRun {
		err := o.RunNow(ctx, plan.Job, plan.Sweep, who)
		plan.Done = err == nil
		return plan, err
	}
	return o.acts().DoJob(ctx, plan, who)
}

// PlanMove returns what moving the rows of a job to another name would do.
func (o *Office) PlanMove(ctx context.Context, from, to string) (acts.JobMovePlan, error) {
	return o.acts().MoveJob(ctx, from, to)
}

// Move does what a plan showed.
func (o *Office) Move(ctx context.Context, plan acts.JobMovePlan, who trade.Person) (acts.JobMovePlan, error) {
	if err := may(who, acts.ActMove); err != nil {
		return plan, err
	}
	return o.acts().DoMoveJob(ctx, plan, who)
}

// RunNow asks the scheduler for a run of a job. The order is recorded in the audit first.
func (o *Office) RunNow(ctx context.Context, job string, sweep bool, who trade.Person) error {
	if err := mayRole(who, acts.Order{Act: acts.ActRun, Sweep: sweep}.Role()); err != nil {
		return err
	}
	var detail any
	if sweep {
		detail = map[string]bool{"sweep": true}
	}
	if err := o.Note(ctx, "run now", job, detail, who); err != nil {
		return err
	}
	return o.scheduler.Trigger(ctx, job, sweep)
}

// readingsRead is in how many of the latest passes of a job a reading of the ERP is looked for.
const readingsRead = 100

// reading returns when the ERP was read for a job.
func (o *Office) reading(ctx context.Context, job string) (Reading, error) {
	cursor, err := o.store.Cursor(ctx, job)
	if err != nil {
		return Reading{}, err
	}
	passes, err := o.store.Runs(ctx, job, readingsRead)
	if err != nil {
		return Reading{}, err
	}
	var out Reading
	for _, pass := range passes {
		if !pass.ReadAt.IsZero() {
			out.At = pass.ReadAt
			if !pass.Sweep {
				out.Whole = cursor.SweptAt
			}
			return out, nil
		}
		// one that read single rows has ended well, and is no reading of the job
		if out.Tried.IsZero() && (pass.Stopped != nil || pass.EndedAt.IsZero()) {
			out.Tried, out.Why = pass.StartedAt, pass.Stopped
			out.Goes, err = o.Goes(ctx, pass)
			if err != nil {
				return out, err
			}
		}
	}
	out.At = cursor.SweptAt
	return out, nil
}

// Harvests returns the seasons that the mapping knows.
func (o *Office) Harvests() (out []string) {
	for _, job := range o.jobs {
		for _, season := range job.Spec.Fields["haverst"].Values {
			out = append(out, season)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (o *Office) job(name string) (*mapping.Job, mapping.JobSpec) {
	for _, job := range o.jobs {
		if job.Name() == name {
			return job, job.Spec
		}
	}
	return nil, mapping.JobSpec{}
}

// jobNamed returns a job; nil if the configuration does not have it.
func (o *Office) jobNamed(name string) *mapping.Job {
	job, _ := o.job(name)
	return job
}

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

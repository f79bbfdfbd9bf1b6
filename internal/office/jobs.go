package office

import (
	"context"
	"fmt"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
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
		for _, text := range []struct {
			sweep bool
			text  string
		}{{false, job.Spec.Schedule}, {true, job.Spec.Sweep}} {
			if text.text == "" {
				continue
			}
			schedule, err := clock.ParseSchedule(text.text, zone)
			if err != nil {
				return nil, err
			}
			times := ScheduleTimes{Sweep: text.sweep, Text: text.text, Words: v.ExplainCron(text.text)}
			next := NextTimes(schedule, status.Resting(o.now()))
			times.Next = next[:min(len(next), nextRunsShown)]
			s.Alone = s.Alone && len(times.Next) == 0
			s.Times = append(s.Times, times)
		}
		out = append(out, s)
	}
	return out, nil
}

// PlanJob returns what an act on a job would do: pause, resume, release, run. It changes nothing.
func (o *Office) PlanJob(ctx context.Context, act, job string, who acts.Person) (acts.JobPlan, error) {
	if _, err := o.engine.Job(job); err != nil {
		return acts.JobPlan{}, err
	}
	people := o.Acts()
	switch act {
	case "pause":
		return people.Pause(ctx, job, who)
	case "resume":
		return people.Resume(ctx, job)
	case "release":
		return people.Release(ctx, job)
	case acts.ActRun:
		status, err := o.store.JobStatus(ctx, job)
		plan := acts.JobPlan{Act: act, Job: job, Before: status}
		if status.State == trade.Paused {
			plan.Refused = acts.AlreadyPaused
		}
		return plan, err
	}
	return acts.JobPlan{}, fmt.Errorf("there is no act %q", act)
}

// DoJob does what a plan with this mark showed. It refuses if the plan has changed.
func (o *Office) DoJob(ctx context.Context, act, job, mark string, checked bool,
	who acts.Person,
) (acts.JobPlan, error) {
	plan, err := o.PlanJob(ctx, act, job, who)
	switch {
	case err != nil || plan.Refused != acts.NotRefused:
		return plan, err
	case plan.Mark() != mark:
		plan.Refused = acts.Moved
		return plan, nil
	case act == acts.ActRun:
		err := o.RunNow(ctx, job, false, who)
		plan.Done = err == nil
		return plan, err
	}
	plan.Checked = checked
	return o.Acts().DoJob(ctx, plan, who)
}

// RunNow asks the scheduler for a run of a job. The order is recorded in the audit first.
func (o *Office) RunNow(ctx context.Context, job string, sweep bool, who acts.Person) error {
	var detail any
	if sweep {
		detail = map[string]bool{"sweep": true}
	}
	record, err := who.Record(o.now(), "run now", job, detail)
	if err != nil {
		return err
	}
	if err := o.store.AppendAudit(ctx, record); err != nil {
		return err
	}
	return o.scheduler.Trigger(ctx, job, sweep)
}

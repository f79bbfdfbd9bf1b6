package desk

import (
	"context"
	"fmt"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// Schedules returns the jobs with their schedules and states.
func (d *Desk) Schedules(ctx context.Context, lang trade.Lang) ([]pages.Schedule, error) {
	v, zone := d.voice(lang), d.g.App.Config.Zone()
	var out []pages.Schedule
	for _, job := range d.g.Engine.Jobs {
		status, err := office.LiveStatus{Store: d.g.Store}.JobStatus(ctx, job.Name())
		if err != nil {
			return nil, err
		}
		s := pages.Schedule{
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
			times := pages.ScheduleTimes{Sweep: text.sweep, Text: text.text, Words: v.ExplainCron(text.text)}
			next := office.NextTimes(schedule, status.Resting(office.Now()))
			times.Next = next[:min(len(next), nextRunsShown)]
			s.Alone = s.Alone && len(times.Next) == 0
			s.Times = append(s.Times, times)
		}
		out = append(out, s)
	}
	return out, nil
}

// The acts on jobs.
const (
	actPause   = "pause"
	actResume  = "resume"
	actRelease = "release"
	actRun     = "run"
)

// PlanJob returns what an act on a job would do.
func (d *Desk) PlanJob(ctx context.Context, act, job string, who acts.Person) (pages.JobPlan, error) {
	plan, err := d.planJob(ctx, act, job, who)
	if err != nil {
		return pages.JobPlan{}, err
	}
	return d.jobPlan(plan), nil
}

func (d *Desk) planJob(ctx context.Context, act, job string, who acts.Person) (acts.JobPlan, error) {
	if _, err := d.g.Engine.Job(job); err != nil {
		return acts.JobPlan{}, err
	}
	people := d.acts()
	switch act {
	case actPause:
		return people.Pause(ctx, job, who)
	case actResume:
		return people.Resume(ctx, job)
	case actRelease:
		return people.Release(ctx, job)
	case actRun:
		status, err := d.g.Store.JobStatus(ctx, job)
		plan := acts.JobPlan{Act: act, Job: job, Before: status}
		if status.State == trade.Paused {
			plan.Refused = acts.AlreadyPaused
		}
		return plan, err
	}
	return acts.JobPlan{}, fmt.Errorf("there is no act %q", act)
}

// jobPlan returns the engine's plan in the console's form.
func (d *Desk) jobPlan(plan acts.JobPlan) pages.JobPlan {
	out := pages.JobPlan{Act: plan.Act, Job: plan.Job, Refused: string(plan.Refused), Before: plan.Before}
	seen := plan.Before
	if plan.Act == actRun || plan.Act == actPause { // these two may be ordered whatever the job does now
		seen = trade.JobStatus{}
	}
	out.Mark = acts.MarkOf(plan.Act, plan.Job, plan.Refused, seen, plan.Release)
	if r := plan.Release; r != nil {
		out.Exists = r.Exists
		if r.Brake != nil {
			out.Lets = append(out.Lets, "brake")
		}
		if r.Stop != nil {
			out.Lets = append(out.Lets, "stop")
		}
		if r.Sweep != nil {
			out.Lets = append(out.Lets, "sweep")
		}
	}
	return out
}

// DoJob does what a plan with this mark showed. It refuses if the plan has changed.
func (d *Desk) DoJob(ctx context.Context, act, job, mark string, checked bool, who acts.Person) (pages.JobPlan, error) {
	plan, err := d.planJob(ctx, act, job, who)
	if err != nil {
		return pages.JobPlan{}, err
	}
	out := d.jobPlan(plan)
	switch {
	case out.Refused != "":
		return out, nil
	case out.Mark != mark:
		out.Refused = string(acts.Moved)
		return out, nil
	case act == actRun:
		if err := d.g.RunNow(ctx, job, false, who); err != nil {
			return out, err
		}
		out.Done = true
		return out, nil
	}
	plan.Checked = checked
	done, err := d.acts().DoJob(ctx, plan, who)
	if out.Asked = done.Asked; out.Asked != nil {
		return out, err
	}
	out.Refused, out.Done = string(done.Refused), err == nil && done.Refused == acts.NotRefused
	return out, err
}

// RunNow asks the scheduler for a run of a job. The order is recorded in the audit first.
func (h *Host) RunNow(ctx context.Context, job string, sweep bool, who acts.Person) error {
	var detail any
	if sweep {
		detail = map[string]bool{"sweep": true}
	}
	record, err := who.Record(office.Now(), "run now", job, detail)
	if err != nil {
		return err
	}
	if err := h.Store.AppendAudit(ctx, record); err != nil {
		return err
	}
	return h.Scheduler.Trigger(ctx, job, sweep)
}

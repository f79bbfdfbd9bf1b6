// Acts on a job: pause, resume, release.

package acts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// JobPlan is what an act would do to a job, or has done.
type JobPlan struct {
	Act     string
	Job     string
	Refused Refusal
	Before  trade.JobStatus
	After   trade.JobStatus
	Release *Release        // what a release would let pass
	Asked   *trade.Approval // set if others must agree first; nothing was done then
	act     trade.JobAct
}

// Release is what a release lets pass.
type Release struct {
	Brake *trade.Brake `json:"brake"` // the brake that paused the job; null if none did
	// Sweep means that the next sweep counts although it finds too few rows, about Found of them.
	// null if no sweep was braked.
	Sweep *ReleasedSweep `json:"sweep"`
	Stop  *trade.Stop    `json:"stop"` // a stop that only a person ends; null if the job had none
}

// ReleasedSweep is a sweep that found too few rows.
type ReleasedSweep struct {
	Found int `json:"found"`
}

// Pause plans that a job sends nothing until somebody resumes it. A running job begins no further
// request and waits for those in flight.
func (a *Acts) Pause(ctx context.Context, job string, who Person) (JobPlan, error) {
	plan, err := a.planJob(ctx, "pause", job)
	if err != nil {
		return plan, err
	}
	if plan.Before.State == trade.Paused {
		plan.Refused = AlreadyPaused
		return plan, nil
	}
	plan.After = trade.JobStatus{
		Job: job, State: trade.Paused, Since: a.Now(),
		Stop: &trade.Stop{Code: string(outcome.StopPaused), Text: strings.TrimSpace(who.Name + ": " + who.Reason)},
	}
	// no Saw: the status of a running job changes all the time, and the job is paused in any case
	plan.act = trade.JobAct{Job: job, Status: plan.After}
	return plan, nil
}

// Resume plans the end of a person's pause.
func (a *Acts) Resume(ctx context.Context, job string) (JobPlan, error) {
	plan, err := a.planJob(ctx, "resume", job)
	if err != nil {
		return plan, err
	}
	switch {
	case plan.Before.State != trade.Paused:
		plan.Refused = NotPaused
	case braking(plan.Before):
		plan.Refused = BrakeHolds
	}
	return a.toIdle(plan), nil
}

// Release plans that a job goes on although a brake holds it, or a sweep found too few rows: what
// was shown is let pass, once.
func (a *Acts) Release(ctx context.Context, job string) (JobPlan, error) {
	plan, err := a.planJob(ctx, "release", job)
	if err != nil {
		return plan, err
	}
	cursor, err := a.JobLedger.Cursor(ctx, job)
	if err != nil {
		return plan, err
	}
	release := Release{}
	if braking(plan.Before) {
		release.Brake = plan.Before.Stop.Brake
		if a.putBack(*release.Brake) {
			release.Brake = &trade.Brake{Job: job} // nothing needs to be accepted
		}
		letPass(&cursor, *release.Brake)
	}
	if s := cursor.Sweep; s != nil && s.Braked > 0 && s.Released == nil {
		believe(&cursor, s.Found)
		release.Sweep = &ReleasedSweep{s.Found}
	}
	if plan.Before.State == trade.Stopped && plan.Before.Stop != nil &&
		slices.Contains(outcome.EndedByPerson, outcome.StopCode(plan.Before.Stop.Code)) {
		release.Stop = plan.Before.Stop
	}
	switch {
	case release != Release{}:
	case plan.Before.State == trade.Paused:
		plan.Refused = AlreadyPaused
	default:
		plan.Refused = NothingBraked
	}
	plan.Release = &release
	plan = a.toIdle(plan)
	if plan.Before.State == trade.Paused && release.Brake == nil { // a person's pause stays
		plan.After, plan.act.Status = plan.Before, plan.Before
	}
	plan.act.Cursor = &cursor
	return plan, nil
}

// putBack reports whether the configuration has returned to the old key space of a job that a brake
// paused for its new one.
func (a *Acts) putBack(b trade.Brake) bool {
	return b.Was != nil && b.Identity != nil && b.Was.Space != b.Identity.Space &&
		slices.ContainsFunc(a.Jobs, func(j *mapping.Job) bool {
			return j.Name() == b.Job && j.Identity.Space == b.Was.Space
		})
}

// letPass makes the brakes let pass what a person was shown, and nothing more.
func letPass(cursor *trade.Cursor, b trade.Brake) {
	cursor.Brakes.Passed = max(cursor.Brakes.Passed, b.Last)
	if b.Freight != nil {
		cursor.Brakes.Released = b.Freight
	}
	for _, k := range b.Former {
		cursor.Brakes.Former = append(cursor.Brakes.Former, k.Job)
	}
	if b.Mapping != "" {
		cursor.Brakes.Mapping, cursor.Brakes.Canary = b.Mapping, nil
	}
	if b.Identity != nil {
		cursor.Brakes.Identity, cursor.Brakes.Allowed = b.Identity, b.Rows
		if b.Was == nil || !b.Was.SameRows(*b.Identity) { // otherwise the sweep finds the same rows
			believe(cursor, b.Found)
		}
	}
}

// believe makes the next sweep count although it finds only that many of the known rows.
func believe(cursor *trade.Cursor, found int) {
	sweep := trade.Sweep{}
	if cursor.Sweep != nil {
		sweep = *cursor.Sweep
	}
	sweep.Released = &found
	cursor.Sweep = &sweep
}

// braking reports whether a brake holds a job.
func braking(status trade.JobStatus) bool {
	return status.State == trade.Paused && status.Stop != nil && status.Stop.Brake != nil
}

func (a *Acts) planJob(ctx context.Context, act, job string) (JobPlan, error) {
	status, err := a.JobLedger.JobStatus(ctx, job)
	return JobPlan{Act: act, Job: job, Before: status}, err
}

// toIdle makes the plan set the job to idle, if its status is still what was shown.
func (a *Acts) toIdle(plan JobPlan) JobPlan {
	saw := plan.Before
	plan.After = trade.JobStatus{Job: plan.Job, State: trade.Idle, Since: a.Now()}
	plan.act = trade.JobAct{Job: plan.Job, Saw: &saw, Status: plan.After}
	return plan
}

// DoJob executes a plan if the job has not changed since it was shown; otherwise the returned plan
// is refused.
func (a *Acts) DoJob(ctx context.Context, plan JobPlan, who Person) (JobPlan, error) {
	if err := who.check(); err != nil {
		return plan, err
	}
	if plan.Refused != NotRefused {
		return plan, fmt.Errorf("%s %s: refused (%s)", plan.Act, plan.Job, plan.Refused)
	}
	asked, err := a.askJob(ctx, plan, who)
	if err != nil || asked != nil {
		plan.Asked = asked
		return plan, err
	}
	record, err := who.Record(a.Now(), plan.Act, plan.Job, struct {
		Before  trade.JobStatus `json:"before"`
		After   trade.JobStatus `json:"after"`
		Release *Release        `json:"release,omitempty"`
	}{plan.Before, plan.After, plan.Release})
	if err != nil {
		return plan, err
	}
	done, err := a.Ledger.Act(ctx, []trade.Act{{Job: &plan.act, Audit: record}})
	if err == nil && !done[0] {
		plan.Refused = Moved
	}
	return plan, err
}

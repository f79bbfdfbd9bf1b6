// Acts on a job: pause, resume, release.

package acts

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// JobPlan is what an act would do to a job, or has done.
type JobPlan struct {
	Act     string          `json:"act"`
	Job     string          `json:"job"`
	Done    bool            `json:"done"` // it was executed
	Refused Refusal         `json:"refused"`
	Before  trade.JobStatus `json:"before"`
	State   trade.JobState  `json:"state"` // the job's state now; whoever prints it sets it
	Release *Release        `json:"release,omitempty"`
	After   trade.JobStatus `json:"-"`
	Checked bool            `json:"-"` // the person declares that the platform was checked; see Unchecked
	Sweep   bool            `json:"-"` // of a run: everything is compared
	Asked   *trade.Approval `json:"-"` // set if others must agree first; nothing was done then
	act     trade.JobAct
	also    []trade.JobAct // on further jobs that the same absence paused
}

// Release is what a release lets pass.
type Release struct {
	Brake *trade.Brake `json:"brake"` // the brake that paused the job; null if none did
	// Sweep means that the next sweep counts although it finds too few rows, about Found of them.
	// null if no sweep was braked.
	Sweep *ReleasedSweep `json:"sweep"`
	Stop  *trade.Stop    `json:"stop"` // a stop that only a person ends; null if the job had none
	// what was sent and may be a record of the rows that go on: a person must have compared; null if
	// nothing of them can be made twice
	Exists *Existing `json:"exists,omitempty"`
	// further jobs that go on: one absence pauses them all, and is one question
	Also []string `json:"also,omitempty"`
}

// Existing is what is known to be on the platform of rows that a brake holds as new.
type Existing struct {
	Rows  int                 `json:"rows"`  // sent, or possibly sent
	Sent  []trade.Counterpart `json:"sent"`  // the first few of them, with their ids
	Until *time.Time          `json:"until"` // what was sent later is not known; null: all is known
}

// ReleasedSweep is a sweep that found too few rows.
type ReleasedSweep struct {
	Found int `json:"found"`
}

// Pause plans that a job sends nothing until somebody resumes it. A running job begins no further
// request and waits for those in flight.
func (a *Acts) Pause(ctx context.Context, job string, who trade.Person) (JobPlan, error) {
	plan, err := a.planJob(ctx, ActPause, job)
	if err != nil {
		return plan, err
	}
	if plan.Before.State == trade.Paused {
		plan.Refused = AlreadyPaused
		return plan, nil
	}
	plan.After = trade.JobStatus{
		Job: job, State: trade.Paused, Since: a.Now(),
		Stop: &trade.Stop{
			Code: string(outcome.StopPaused), Why: trade.Say("stop.paused.by", "who", who.Name, "why", who.Reason),
		},
	}
	// no Saw: the status of a running job changes all the time, and the job is paused in any case
	plan.act = trade.JobAct{Job: job, Status: plan.After}
	return plan, nil
}

// Resume plans the end of a person's pause.
func (a *Acts) Resume(ctx context.Context, job string) (JobPlan, error) {
	plan, err := a.planJob(ctx, ActResume, job)
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
	plan, err := a.planJob(ctx, ActRelease, job)
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
		} else {
			release.Exists, err = a.exists(ctx, *plan.Before.Stop, *release.Brake)
		}
		if err != nil {
			return plan, err
		}
		// The brakes let pass what a person was shown, and nothing more.
		b, passes := *release.Brake, &cursor.Brakes
		passes.Passed = max(passes.Passed, b.Last)
		if b.Freight != nil {
			passes.Released = b.Freight
		}
		for _, k := range b.Former {
			passes.Former = append(passes.Former, k.Job)
		}
		if b.Mapping != "" {
			passes.Mapping, passes.Canary = b.Mapping, nil
		}
		if b.Identity != nil {
			passes.Identity, passes.Allowed = b.Identity, b.Rows
			if b.Was == nil || !b.Was.SameRows(*b.Identity) { // otherwise the sweep finds the same rows
				believe(&cursor, b.Found)
			}
		}
	}
	if s := cursor.Sweep; s != nil && s.Braked > 0 && s.Released == nil {
		believe(&cursor, s.Found)
		release.Sweep = &ReleasedSweep{s.Found}
	}
	if unwitnessed(plan.Before) {
		release.Exists, err = a.exists(ctx, *plan.Before.Stop, trade.Brake{Job: job})
		if err != nil {
			return plan, err
		}
	}
	if EndedByPerson(plan.Before) || unwitnessed(plan.Before) {
		release.Stop = plan.Before.Stop
	}
	switch {
	case release.Brake != nil || release.Sweep != nil || release.Stop != nil:
	case plan.Before.State == trade.Paused:
		plan.Refused = AlreadyPaused
	default:
		plan.Refused = NothingBraked
	}
	plan.Release = &release
	plan = a.toIdle(plan)
	switch b := release.Brake; { // a person's pause stays
	case plan.Before.State == trade.Paused && b == nil:
		plan.After, plan.act.Status = plan.Before, plan.Before
	case b != nil && b.Paused != nil:
		plan.After = pausedAgain(job, *b)
		plan.act.Status = plan.After
	}
	if !absent(plan) || release.Sweep != nil { // that of an absence may come while its rows are recorded
		plan.act.Cursor = &cursor
	}
	return plan, a.othersOf(ctx, &plan)
}

// pausedAgain returns the status that a job had before a brake, and has again after its release.
func pausedAgain(job string, b trade.Brake) trade.JobStatus {
	status := *b.Paused
	status.Job = job // it may have been moved since
	return status
}

// absent reports whether the silence of all who send paused the job of a plan.
func absent(plan JobPlan) bool {
	return braking(plan.Before) && plan.Before.Stop.Code == string(outcome.StopAbsent)
}

// othersOf adds to the release of an absence the other jobs that it paused.
func (a *Acts) othersOf(ctx context.Context, plan *JobPlan) error {
	if !absent(*plan) {
		return nil
	}
	known, err := a.JobLedger.JobsOfLedger(ctx)
	if err != nil {
		return err
	}
	names := trade.Map(a.Jobs, (*mapping.Job).Name)
	for _, k := range known {
		names = append(names, k.Job)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		other, err := a.planJob(ctx, ActRelease, name)
		if err != nil {
			return err
		}
		if name == plan.Job || !absent(other) {
			continue
		}
		other = a.toIdle(other)
		if b := other.Before.Stop.Brake; b.Paused != nil {
			other.act.Status = pausedAgain(name, *b)
		}
		plan.Release.Also, plan.also = append(plan.Release.Also, name), append(plan.also, other.act)
	}
	return nil
}

// putBack reports whether the configuration has returned to the old key space of a job that a brake
// paused for its new one.
func (a *Acts) putBack(b trade.Brake) bool {
	return b.Was != nil && b.Identity != nil && b.Was.Space != b.Identity.Space &&
		slices.ContainsFunc(a.Jobs, func(j *mapping.Job) bool {
			return j.Name() == b.Job && j.Identity.Space == b.Was.Space
		})
}

// exists returns what is known to be on the platform of the rows of a brake; nil if the rows that it
// lets pass can be made only once.
func (a *Acts) exists(ctx context.Context, stop trade.Stop, b trade.Brake) (*Existing, error) {
	code := outcome.StopCode(stop.Code)
	if !slices.Contains(outcome.MayDouble, code) || code == outcome.StopRetyped && b.Again == 0 {
		return nil, nil //nolint:nilnil // nothing can be made twice: what was re-typed is held after the release
	}
	if j := a.job(b.Job); code == outcome.StopChangedKey && j != nil && b.Was != nil && j.Identity.SameRows(*b.Was) {
		return nil, nil //nolint:nilnil // the configuration has been put right: no known row looks new
	}
	out := &Existing{Sent: []trade.Counterpart{}}
	var jobs []string // of which the first few rows are named
	switch {
	case code == outcome.StopRetyped:
		out.Rows, b.Sent = b.Again, nil // those of another job still stand under its keys
	case code == outcome.StopChangedKey:
		out.Rows = b.Known - b.Found
	case len(b.Former) > 0:
		for _, k := range b.Former {
			out.Rows, jobs = out.Rows+k.Accepted+k.InDoubt, append(jobs, k.Job)
		}
	default:
		known, err := a.JobLedger.JobsOfLedger(ctx)
		if err != nil {
			return nil, err
		}
		for _, k := range known {
			// a job beside which another one changes its key space does not say which; an absence
			// is one question for all jobs
			all := code == outcome.StopAbsent || code == outcome.StopWitness
			if k.Job == b.Job || all || b.Was == nil && b.Until.IsZero() {
				out.Rows, jobs = out.Rows+k.Accepted+k.InDoubt, append(jobs, k.Job)
			}
		}
	}
	if !b.Until.IsZero() {
		out.Until = &b.Until
	}
	for _, s := range b.Sent {
		entry, err := a.Ledger.Entry(ctx, s.Job, s.Key)
		if err == nil {
			s = *trade.CounterpartOf(entry)
		} else if !errors.Is(err, trade.ErrNotFound) {
			return out, err
		}
		out.Sent = append(out.Sent, s)
	}
	for _, job := range jobs { // then the first few rows of these
		if len(out.Sent) == run.BrakeSamples {
			break
		}
		err := a.Ledger.Rows(ctx, trade.RowQuery{
			Jobs: []string{job}, States: []trade.State{trade.Accepted}, Limit: run.BrakeSamples - len(out.Sent),
		}, func(e trade.Entry) error {
			out.Sent = append(out.Sent, *trade.CounterpartOf(e))
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
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

// EndedByPerson reports whether a job has a stop that only a person ends.
func EndedByPerson(s trade.JobStatus) bool {
	return s.State == trade.Stopped && s.Stop != nil &&
		slices.Contains(outcome.EndedByPerson, outcome.StopCode(s.Stop.Code))
}

// unwitnessed reports whether a job waits because the ledger's witness cannot be read.
func unwitnessed(s trade.JobStatus) bool {
	return s.State == trade.Stopped && s.Stop != nil && s.Stop.Code == string(outcome.StopWitness)
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

// Unchecked reports whether rows may be made twice, and nobody has declared that the platform was
// checked.
func (p JobPlan) Unchecked() bool { return p.Release != nil && p.Release.Exists != nil && !p.Checked }

// DoJob executes a plan if the job has not changed since it was shown, and if the platform was
// checked where rows may be made twice; otherwise the returned plan is refused.
func (a *Acts) DoJob(ctx context.Context, plan JobPlan, who trade.Person) (JobPlan, error) {
	if err := named(who); err != nil {
		return plan, err
	}
	if plan.Refused != NotRefused {
		return plan, phrase.Errorf("%s %s: refused (%s)", plan.Act, plan.Job, plan.Refused)
	}
	if plan.Unchecked() {
		plan.Refused = NotChecked
		return plan, nil
	}
	p := Planned{Order: Order{Act: plan.Act, Job: plan.Job, Checked: plan.Checked}}
	if r := plan.Release; r != nil && r.Brake != nil {
		p.Rows = r.Brake.Rows
		if f := r.Brake.Freight; f != nil && f.Unpriced == 0 &&
			r.Sweep == nil && r.Stop == nil { // else more may go, of unknown value
			if value, there := f.Value[reais]; there && len(f.Value) == 1 {
				p.Value = &value
			}
		}
	}
	asked, err := a.Ask(ctx, p, plan.Mark(), who, 0)
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
	all := []trade.Act{{Job: &plan.act, Audit: record}}
	for _, also := range plan.also {
		record, err := who.Record(a.Now(), plan.Act, also.Job, struct {
			Before *trade.JobStatus `json:"before"`
			After  trade.JobStatus  `json:"after"`
			With   string           `json:"with"` // the job whose release this is
		}{also.Saw, also.Status, plan.Job})
		if err != nil {
			return plan, err
		}
		all = append(all, trade.Act{Job: &also, Audit: record})
	}
	done, err := a.Ledger.Act(ctx, all)
	if err != nil {
		return plan, err
	}
	plan.Done = done[0]
	if !plan.Done {
		plan.Refused = Moved
	}
	return plan, nil
}

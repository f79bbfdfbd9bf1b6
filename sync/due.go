// Which jobs run now, and when the next ones are due.

package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// future is how far a time stored in the ledger may be ahead of the clock before it is taken to
// mean that the clock was set back.
const future = time.Minute

// readTimeout is how long the loop waits for an answer of the ledger: a blocked loop would starve
// the watchdog.
const readTimeout = 20 * time.Second

// timetable holds when one job runs.
type timetable struct {
	job      *mapping.Job
	schedule cron.Schedule
	// start of the last run, as far as it is known; the schedule's first time after it is the next
	base    time.Time
	known   bool // base was read from the ledger
	running bool // in the pass

	atStart   bool // the process started, and the job has not run since
	triggered bool // a person or program asked for a run
	sweep     bool // with triggered: and for a sweep
	again     bool // a stop that ends by itself held it; it runs as soon as the stop is over
	cleared   bool // a probe has passed since it stopped

	sendsAt time.Time // when the job's hours begin, if rows wait for them

	untold *trade.JobStatus // a stop that the ledger may not have stored
}

// next returns the first time after base at which the job runs or sweeps. A sweep keeps its own
// hour, even if the schedule has no run then.
func (t *timetable) next() time.Time {
	run := t.schedule.Next(t.base)
	if sweep := t.job.Sweep.Next(t.base); t.job.Spec.ChangedAt != "" && !sweep.IsZero() &&
		(run.IsZero() || sweep.Before(run)) {
		return sweep
	}
	return run
}

// isDue reports whether the job is due by time, as far as its times are known. A base in the future
// means that the clock was set back; then the job runs once.
func (t *timetable) isDue(now time.Time) bool {
	if t.atStart || t.again || t.base.IsZero() || t.base.After(now.Add(future)) ||
		!t.sendsAt.IsZero() && !t.sendsAt.After(now) {
		return true
	}
	next := t.next()
	return !next.IsZero() && !next.After(now)
}

// allDue returns the jobs that are to run now, and counts them as running. idle reports whether a
// running job has nothing left, so that its run may end and a new one begin.
func (s *Scheduler) allDue(ctx context.Context, idle func(string) bool) []dueJob {
	now := s.Engine.Clock.Now()
	holders := s.holders(ctx)
	var out []dueJob
	for _, t := range s.jobs {
		if t.running && !idle(t.job.Name()) {
			continue
		}
		if t.known && !t.triggered && !t.isDue(now) {
			continue
		}
		if !s.mayRun(ctx, t, now) {
			continue
		}
		switch {
		case t.triggered:
		case s.parentRunsElsewhere(holders, t.job):
			t.again = true
			continue
		case slices.ContainsFunc(holders, func(h trade.Holder) bool {
			return h.Job == t.job.Name() && !h.Dead
		}): // it does what is due at this time
			t.base, t.atStart, t.again, t.sendsAt = now, false, false, mapping.NoTime
			continue
		}
		a := dueJob{job: t.job, sweep: t.sweep || t.atStart}
		a.probe = slices.ContainsFunc(circuitsOf(t.job), func(name string) bool { return s.circuits[name] != nil })
		s.log.Debug("due", zap.String("job", a.job.Name()), zap.Bool("sweep", a.sweep), zap.Bool("probe", a.probe),
			zap.Bool("by_hand", t.triggered), zap.Time("last", t.base))
		out = append(out, a)
		t.base, t.running = now, true
		t.triggered, t.sweep, t.atStart, t.again, t.cleared, t.sendsAt = false, false, false, false, false,
			mapping.NoTime
		t.untold = nil
	}
	return out
}

// mayRun reads from the ledger when the job ran last, here or in another process, and reports
// whether the job may run: it is due or triggered, not paused, and no stop holds it.
func (s *Scheduler) mayRun(ctx context.Context, t *timetable, now time.Time) bool {
	if !t.triggered && !s.mayTry(t.job) {
		return false
	}
	name := t.job.Name()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	status, err := s.Engine.Ledger.JobStatus(ctx, name)
	var runs []trade.RunReport
	if err == nil {
		runs, err = s.Engine.Ledger.Runs(ctx, name, 1)
	}
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			s.log.Error("the ledger does not say whether a job is due", zap.String("job", name), zap.Error(err))
			s.withoutLedger(t, err)
		}
		return false
	}
	first := !t.known
	t.known = true
	if first && len(runs) > 0 && runs[0].SendsAgain != nil {
		t.sendsAt = *runs[0].SendsAgain
	}
	if len(runs) > 0 && runs[0].StartedAt.After(t.base) || t.base.After(now.Add(future)) {
		t.base = mapping.NoTime
		if len(runs) > 0 {
			t.base = runs[0].StartedAt
		}
	}
	switch {
	case status.State == trade.Paused && !absent(status):
		return false
	case t.triggered:
		return true
	case !t.isDue(now) && !(first && endedEarly(status)):
		return false
	}
	return status.Stop == nil || s.overcome(t, status)
}

// endedEarly reports whether a job's last run, under an earlier scheduler, ended before its work was
// done, for a reason that ends by itself.
func endedEarly(status trade.JobStatus) bool {
	if status.Stop == nil || status.State != trade.Stopped && status.State != trade.BackingOff {
		return false
	}
	code := outcome.StopCode(status.Stop.Code)
	return slices.Contains([]outcome.StopCode{
		outcome.StopInterrupt, outcome.StopThrottled, outcome.StopUnreachable,
		outcome.StopLedger, outcome.StopPlatform, outcome.StopWitness,
	}, code) || slices.Contains(triedAtERP, code) || slices.Contains(endedByProbe, code)
}

// overcome reports whether the job may run although the ledger holds a stop of it.
func (s *Scheduler) overcome(t *timetable, status trade.JobStatus) bool {
	code := outcome.StopCode(status.Stop.Code)
	switch {
	case status.State != trade.Stopped && status.State != trade.BackingOff, t.cleared:
		return true
	case slices.Contains(outcome.EndedByPerson, code):
		return false
	case slices.Contains(endedByProbe, code): // stored by an earlier or another process
		t.again = true
		s.openAt(circuitOf(t.job, *status.Stop), *status.Stop, s.Engine.Clock.Boot())
		s.wakeLoop()
		return false
	case code == outcome.StopThrottled:
		wait := min(status.Stop.Until.Sub(s.Engine.Clock.Now()), sending.LongestAsked)
		if wait > 0 {
			t.again = true
			s.openAt(circuitOf(t.job, *status.Stop), *status.Stop, s.Engine.Clock.Boot()+wait)
		}
		return wait <= 0
	}
	return true
}

// untilNext returns for how long nothing can become due by time.
func (s *Scheduler) untilNext() time.Duration {
	wait := s.WakeMost
	now, boot := s.Engine.Clock.Now(), s.Engine.Clock.Boot()
	for _, t := range s.jobs {
		if t.running || !t.known || t.base.IsZero() {
			continue
		}
		for _, next := range []time.Time{t.next(), t.sendsAt} {
			if next.After(now) {
				wait = min(wait, next.Sub(now))
			}
		}
	}
	for _, task := range s.tasks {
		if next := task.next(); next.After(now) {
			wait = min(wait, next.Sub(now))
		}
	}
	for _, c := range s.circuits {
		if c.until > boot {
			wait = min(wait, c.until-boot)
		}
	}
	return max(wait, time.Millisecond)
}

// schedulerFeed supplies a pass of the daemon with its jobs, and receives their stops and reports.
// All its methods are called by the goroutine of the pass.
type schedulerFeed struct {
	*Scheduler
	first []dueJob
}

// due returns the jobs that are to run now, parents first. idle reports whether a job may begin
// again: its run in the pass has nothing left, but waits for its parents.
func (b *schedulerFeed) due(ctx context.Context, idle func(string) bool) []dueJob {
	b.noteProgress()
	if out := b.first; out != nil {
		b.first = nil
		return out
	}
	if ctx.Err() != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.allDue(ctx, idle)
}

// ended is called when a job has left the pass: with the report of its run (ID "" if it did not
// begin), or with the error that kept it from beginning.
func (b *schedulerFeed) ended(job *mapping.Job, report trade.RunReport, err error) {
	b.mu.Lock()
	t := b.jobs[slices.IndexFunc(b.jobs, func(t *timetable) bool { return t.job == job })]
	t.running = false
	if report.SendsAgain != nil {
		t.sendsAt = *report.SendsAgain
	}
	switch {
	case isLeased(err):
		b.log.Info("another process runs the job", zap.String("job", job.Name()))
	case err != nil:
		b.log.Error("the job could not begin", zap.String("job", job.Name()), zap.Error(err))
		b.withoutLedger(t, err)
	case report.Stopped == nil:
		for _, name := range circuitsOf(job) {
			if c := b.circuits[name]; c != nil && c.until <= b.Engine.Clock.Boot() {
				delete(b.circuits, name)
			}
		}
	case report.Stopped.Code == string(outcome.StopLedger):
		t.untold = &trade.JobStatus{
			Job: job.Name(), State: trade.Stopped, Stop: report.Stopped, Since: b.Engine.Clock.Now(),
		}
	}
	b.mu.Unlock()
	if report.ID != "" && b.Reported != nil {
		b.Reported(report)
	}
}

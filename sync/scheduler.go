// The scheduler: the loop of the service.

package sync

import (
	"context"
	"errors"
	gosync "sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// wakeMost is the longest time the scheduler sleeps: it notices a clock that was set, or a job that
// a person resumed, within that time.
const wakeMost = 30 * time.Second

// SchedulerConfig is what a scheduler is made of. All fields but Engine are optional. Each callback
// is called synchronously, by one goroutine at a time.
type SchedulerConfig struct {
	Engine *Engine
	// AtStart runs every job at once, with a sweep, because the process has just started. Without
	// it only what was missed runs.
	AtStart bool
	// Reported is called for each run that began, when its report is stored.
	Reported func(trade.RunReport)
	// Housekeeping are tasks on schedules of their own, run one at a time, beside the passes.
	Housekeeping []Task
	// Alive is called, at least every WakeMost, as long as the scheduler runs and its pass makes
	// progress. It feeds a watchdog.
	Alive func()
	// WakeMost is how long the scheduler may sleep; 30 s when it is 0 or longer.
	WakeMost time.Duration
	// Patience is how long a pass may make no progress before Alive is no longer called; 0 means
	// for ever.
	Patience time.Duration
}

// Scheduler runs jobs on their schedules, one pass at a time. It keeps the times in the ledger: a
// job whose times were missed while the process or the machine was off runs once, however many it
// missed.
type Scheduler struct {
	SchedulerConfig
	log *zap.Logger

	wake     chan struct{} // wakes the loop; buffers one signal
	tasks    []*taskTimes  // of Housekeeping
	progress atomic.Int64  // Boot time at which the pass last made progress
	seen     clocks        // both clocks at the loop's last turn
	hung     bool          // the log has reported that the pass hangs

	mu       gosync.Mutex
	jobs     []*timetable
	circuits map[string]*circuit
	passing  bool          // a pass is running
	tasking  string        // the task that is running; "" if none
	probing  bool          // a probe is running
	telling  bool          // stops are being stored that the ledger did not take
	tellsAt  time.Duration // Boot time from which that is tried again
	ended    bool          // Run is over: triggers are refused
}

// clocks are both clocks at one moment.
type clocks struct {
	wall time.Time
	boot time.Duration
}

// NewScheduler returns a scheduler for the jobs of an engine.
func NewScheduler(config SchedulerConfig) (*Scheduler, error) {
	s := &Scheduler{
		SchedulerConfig: config, log: config.Engine.Log, wake: make(chan struct{}, 1),
		circuits: map[string]*circuit{},
	}
	if s.WakeMost <= 0 || s.WakeMost > wakeMost {
		s.WakeMost = wakeMost
	}
	for _, job := range config.Engine.Jobs {
		schedule, err := clock.ParseSchedule(job.Spec.Schedule, config.Engine.Zone)
		if err != nil {
			return nil, mapping.SpecFault("jobs."+job.Name()+".schedule", "%w", err)
		}
		s.jobs = append(s.jobs, &timetable{job: job, schedule: schedule, atStart: config.AtStart})
	}
	for _, task := range config.Housekeeping {
		s.tasks = append(s.tasks, &taskTimes{Task: task})
	}
	s.noteProgress()
	watched := config.Engine.EngineParts
	watched.Observe = func(progress run.Progress) {
		s.noteProgress()
		config.Engine.Observe(progress)
	}
	s.Engine = New(watched)
	return s, nil
}

// Run keeps the schedules until ctx ends. It then waits for what is in flight, and returns when all
// that was running has ended.
func (s *Scheduler) Run(ctx context.Context) {
	var working gosync.WaitGroup
	defer s.Engine.Member.Join(ctx, "run")()
	defer working.Wait()
	if s.Engine.Several {
		working.Go(func() { s.watchOthers(ctx) })
	}
	s.seen = clocks{s.Engine.Clock.Now(), s.Engine.Clock.Boot()}
	for {
		// Nothing but the log depends on a clock that was set: what is due is judged by the times in the
		// ledger and the time now. While the machine slept a pass could make no progress, so its silence
		// is counted anew.
		now := clocks{s.Engine.Clock.Now(), s.Engine.Clock.Boot()}
		set := now.wall.Sub(s.seen.wall) - (now.boot - s.seen.boot)
		if set.Abs() > time.Minute {
			s.log.Warn("the clock was set; what was missed for it runs once", zap.Duration("by", set.Round(time.Second)))
		} else if late := now.boot - s.seen.boot - s.WakeMost; late > time.Minute {
			s.noteProgress()
			s.log.Info("the machine slept, or was very busy; what was missed runs once",
				zap.Duration("for", late.Round(time.Second)))
		}
		s.seen = now
		if ctx.Err() == nil {
			s.startDue(ctx, &working)
		} else if s.rest() {
			return
		}
		hangs := !s.Lives()
		switch {
		case !hangs && s.Alive != nil:
			s.Alive()
		case hangs && !s.hung:
			s.log.Error("the pass shows no progress; the watchdog is no longer told that all is well",
				zap.Duration("for", s.silence().Round(time.Second)))
		}
		s.hung = hangs
		s.mu.Lock()
		wait := s.untilNext()
		s.mu.Unlock()
		done := ctx.Done()
		if ctx.Err() != nil {
			done = nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.wake:
		case <-done:
		}
		timer.Stop()
	}
}

// Lives reports whether the running pass, if any, has made progress within Patience.
func (s *Scheduler) Lives() bool { return s.Patience <= 0 || s.silence() <= s.Patience }

// silence returns how long the running pass has made no progress; 0 if there is none.
func (s *Scheduler) silence() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.passing {
		return 0
	}
	return s.Engine.Clock.Boot() - time.Duration(s.progress.Load())
}

func (s *Scheduler) noteProgress() { s.progress.Store(int64(s.Engine.Clock.Boot())) }

// rest reports whether nothing is running any more; from then on triggers are refused.
func (s *Scheduler) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = !s.passing && s.tasking == "" && !s.probing && !s.telling
	return s.ended
}

// startDue starts a pass, a task and a probe if they are due.
func (s *Scheduler) startDue(ctx context.Context, working *gosync.WaitGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var stops []trade.JobStatus // that the ledger may not have stored
	for _, t := range s.jobs {
		if t.untold != nil {
			stops = append(stops, *t.untold)
		}
	}
	if len(stops) > 0 && s.Engine.Clock.Boot() >= s.tellsAt && !s.passing && !s.telling {
		s.telling = true
		// stops that the ledger did not take when they happened; what was stored later stays
		working.Go(func() {
			told := map[string]bool{}
			for _, stop := range stops {
				err := s.amend(ctx, stop.Job, func(status trade.JobStatus) *trade.JobStatus {
					if status.Since.After(stop.Since) {
						return nil
					}
					return &stop
				})
				told[stop.Job] = err == nil
				if err != nil && !isLeased(err) {
					break
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, t := range s.jobs {
				if told[t.job.Name()] {
					t.untold = nil
				}
			}
			s.telling, s.tellsAt = false, s.Engine.Clock.Boot()+tellEvery
			s.wakeLoop()
		})
	}
	if !s.passing && !s.telling { // a pass needs the leases
		if asks := s.allDue(ctx, func(string) bool { return false }); len(asks) > 0 {
			s.passing = true
			s.noteProgress()
			working.Go(func() {
				s.Engine.follow(ctx, &schedulerFeed{s, asks})
				s.mu.Lock()
				defer s.mu.Unlock()
				s.passing = false
				s.wakeLoop()
			})
		}
	}
	if s.tasking == "" {
		now := s.Engine.Clock.Now()
		var task *taskTimes // the due one that has waited longest
		for _, h := range s.tasks {
			if h.base.IsZero() {
				h.base = s.lastTask(ctx, h.Name, now)
			}
			if h.base.After(now.Add(future)) { // the clock was set back: run it once
				h.base = longAgo
			}
			if next := h.next(); !next.IsZero() && !next.After(now) && (task == nil || next.Before(task.next())) {
				task = h
			}
		}
		if task != nil {
			s.tasking = task.Name
			working.Go(func() { // a panic becomes its error: the other tasks and the jobs go on
				start := s.Engine.Clock.Now()
				// A task runs even if the ledger cannot store its start: one of the tasks alerts people when
				// the ledger fails.
				err := errors.Join(s.Engine.Ledger.TaskBegan(ctx, task.Name, start), guarded(ctx, task.Run))
				s.mu.Lock()
				defer s.mu.Unlock()
				task.base, s.tasking = start, ""
				if err != nil && ctx.Err() == nil {
					s.log.Error("a task failed; it is tried again at its next time", zap.String("task", task.Name), zap.Error(err))
				}
				s.wakeLoop()
			})
		}
	}
	if !s.probing && s.probeDue() {
		s.probing = true
		working.Go(func() { s.probe(ctx) })
	}
}

func (s *Scheduler) wakeLoop() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Trigger makes a job run now, in the pass that is running or in one of its own, even if it stopped
// until a person acts. It refuses a job that does not exist or is paused.
func (s *Scheduler) Trigger(ctx context.Context, job string, sweep bool) error {
	if _, err := s.Engine.Job(job); err != nil {
		return err
	}
	status, err := s.Engine.Ledger.JobStatus(ctx, job)
	if err != nil {
		return err
	}
	if status.State == trade.Paused {
		return &outcome.StopError{Stop: *run.PausedStop(status)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return phrase.Errorf("job %s does not run: the service is ending", job)
	}
	for _, t := range s.jobs {
		if t.job.Name() == job {
			t.triggered, t.sweep = true, t.sweep || sweep
		}
	}
	s.wakeLoop()
	return nil
}

// Task is housekeeping on a schedule of its own. It may run beside a pass, never beside another
// task. Its error is logged; it is tried again at its next time. The ledger stores when it began
// last: if times were missed, it runs once; a task that never ran waits for its first time.
type Task struct {
	Name     string
	Schedule cron.Schedule // from clock.ParseSchedule
	Run      func(context.Context) error
}

// longAgo is earlier than any schedule time that matters.
var longAgo = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// taskTimes holds the times of one task.
type taskTimes struct {
	Task
	base time.Time // when its last run began
}

// next returns the task's next time, or the zero time if none is known.
func (h *taskTimes) next() time.Time {
	if h.base.IsZero() {
		return h.base
	}
	return h.Schedule.Next(h.base)
}

// lastTask returns when a task began last, as stored in the ledger. For a new task that is now,
// which is stored for later processes.
func (s *Scheduler) lastTask(ctx context.Context, name string, now time.Time) time.Time {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	last, err := s.Engine.Ledger.LastTask(ctx, name)
	if err == nil && last.IsZero() {
		last, err = now, s.Engine.Ledger.TaskBegan(ctx, name, now)
	}
	if err != nil {
		s.log.Error("the ledger does not say when a task ran last; it runs at its next time", zap.String("task", name),
			zap.Error(err))
		return now
	}
	return last
}

func guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = phrase.Errorf("it panicked: %v", p)
		}
	}()
	return run(ctx)
}

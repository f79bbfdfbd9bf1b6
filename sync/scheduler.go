// The loop of the service.

package sync

import (
	"context"
	"fmt"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// wakeMost is how long the scheduler sleeps at most: a clock that was set, and a job that a person
// has resumed, are noticed by then.
const wakeMost = 30 * time.Second

// SchedulerConfig is what a scheduler is made of. Everything is optional but Engine. What it is
// told, it is told by one goroutine at a time, which waits for it.
type SchedulerConfig struct {
	Engine *Engine
	// AtStart runs every job at once, with a sweep: the process has just started. Without it only
	// what was missed runs.
	AtStart bool
	// Reported is told of each run of a job that began, when its report is stored.
	Reported func(trade.RunReport)
	// Housekeeping is done on schedules of its own, one task at a time, beside the passes.
	Housekeeping []Task
	// Alive is called as long as the scheduler lives and its pass gets on: it feeds a watchdog. It
	// is called at least every WakeMost.
	Alive func()
	// WakeMost is how long the scheduler may sleep; 30 s when it is 0 or longer.
	WakeMost time.Duration
	// Patience is how long a pass may show no progress before the scheduler is no longer alive; 0 =
	// for ever.
	Patience time.Duration
}

// Scheduler runs jobs on their schedules, one pass at a time. It keeps the times in the ledger:
// what was missed while the process, or the machine, was off runs once, however often it was
// missed.
type Scheduler struct {
	SchedulerConfig
	log *zap.Logger

	wake     chan struct{}  // something has happened that the loop must look at; holds one
	tasks    []*housekeeper // of Housekeeping
	progress progressClock
	seen     clocks // when the loop looked last
	hung     bool   // told the log that the pass hangs

	mu       gosync.Mutex
	jobs     []*timetable
	circuits map[string]*circuit
	passing  bool   // a pass is on its way
	tasking  string // the task that is on its way; "" = none
	probing  bool   // a probe is on its way
	ended    bool   // Run is over: nothing may be asked any more
}

// clocks are one look at both.
type clocks struct {
	wall time.Time
	boot time.Duration
}

// NewScheduler makes a scheduler for the jobs of an engine.
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
			return nil, &mapping.SpecError{Path: "jobs." + job.Name() + ".schedule", Text: err.Error()}
		}
		s.jobs = append(s.jobs, &timetable{job: job, schedule: schedule, atStart: config.AtStart})
	}
	for _, task := range config.Housekeeping {
		s.tasks = append(s.tasks, &housekeeper{Task: task})
	}
	s.progress.clock = config.Engine.Clock
	s.progress.note()
	s.Engine = s.progress.watch(config.Engine)
	return s, nil
}

// Run keeps the schedules until ctx ends. What is in flight then is awaited, and everything that
// runs comes to its end before Run returns.
func (s *Scheduler) Run(ctx context.Context) {
	var working gosync.WaitGroup
	defer s.Engine.crew.Join(ctx, "run")()
	defer working.Wait()
	if s.Engine.Several {
		working.Go(func() { s.watchOthers(ctx) })
	}
	s.seen = clocks{s.Engine.Clock.Now(), s.Engine.Clock.Boot()}
	for {
		if s.noteClocks(); ctx.Err() == nil {
			s.startDue(ctx, &working)
		} else if s.rest() {
			return
		}
		s.feedWatchdog()
		s.sleep(ctx)
	}
}

// feedWatchdog feeds the watchdog, unless the pass that is on its way hangs.
func (s *Scheduler) feedWatchdog() {
	hangs := !s.Lives()
	switch {
	case !hangs && s.Alive != nil:
		s.Alive()
	case hangs && !s.hung:
		s.log.Error("the pass shows no progress; the watchdog is no longer told that all is well",
			zap.Duration("for", s.silence().Round(time.Second)))
	}
	s.hung = hangs
}

// Lives reports whether a pass that is on its way has got on lately.
func (s *Scheduler) Lives() bool { return s.Patience <= 0 || s.silence() <= s.Patience }

// silence is how long the pass that is on its way has shown nothing; 0 when there is none.
func (s *Scheduler) silence() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.passing {
		return 0
	}
	return s.progress.silence()
}

// rest reports whether nothing is on its way any more; nothing can be asked from then on.
func (s *Scheduler) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = !s.passing && s.tasking == "" && !s.probing
	return s.ended
}

// startDue starts what is due.
func (s *Scheduler) startDue(ctx context.Context, working *gosync.WaitGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.passing {
		if asks := s.allDue(ctx, func(string) bool { return false }); len(asks) > 0 {
			s.passing = true
			s.progress.note()
			working.Go(func() { s.pass(ctx, asks) })
		}
	}
	if s.tasking == "" {
		if task := s.taskDue(ctx); task != nil {
			s.tasking = task.Name
			working.Go(func() { s.perform(ctx, task) })
		}
	}
	if !s.probing && s.probeDue() {
		s.probing = true
		working.Go(func() { s.probe(ctx) })
	}
}

// pass follows the jobs that are due, from the first ones on.
func (s *Scheduler) pass(ctx context.Context, first []dueJob) {
	s.Engine.follow(ctx, &schedulerFeed{s, first})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passing = false
	s.wakeLoop()
}

// wakeLoop wakes the loop.
func (s *Scheduler) wakeLoop() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// sleep waits until something may be due, or has happened.
func (s *Scheduler) sleep(ctx context.Context) {
	s.mu.Lock()
	wait := s.untilNext()
	s.mu.Unlock()
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-done:
	}
}

// noteClocks tells the log of a clock that was set, on which nothing hangs: what is due is judged
// by the ledger's times and the time that it is now. While the machine slept a pass could not get
// on, and is given as long as ever from now on.
func (s *Scheduler) noteClocks() {
	now := clocks{s.Engine.Clock.Now(), s.Engine.Clock.Boot()}
	set := now.wall.Sub(s.seen.wall) - (now.boot - s.seen.boot)
	if set.Abs() > time.Minute {
		s.log.Warn("the clock was set; what was missed for it runs once", zap.Duration("by", set.Round(time.Second)))
	} else if late := now.boot - s.seen.boot - s.WakeMost; late > time.Minute {
		s.progress.note()
		s.log.Info("the machine slept, or was very busy; what was missed runs once",
			zap.Duration("for", late.Round(time.Second)))
	}
	s.seen = now
}

// Trigger makes a job run now, as by hand: also one that stopped until somebody looks, in the pass
// that is on its way or in one of its own. It refuses a job that does not exist or is paused.
func (s *Scheduler) Trigger(ctx context.Context, job string, sweep bool) error {
	if _, err := s.Engine.Job(job); err != nil {
		return err
	}
	status, err := s.Engine.Ledger.Jobs.JobStatus(ctx, job)
	if err != nil {
		return err
	}
	if status.State == trade.Paused {
		return &outcome.StopError{Stop: *run.PausedStop(status)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return fmt.Errorf("job %s does not run: the service is ending", job)
	}
	for _, t := range s.jobs {
		if t.job.Name() == job {
			t.triggered, t.sweep = true, t.sweep || sweep
		}
	}
	s.wakeLoop()
	return nil
}

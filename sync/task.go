package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"
)

// Task is housekeeping on a schedule of its own. It may run beside a pass, never beside another task; its error is logged, and the next time of its
// schedule is its next try.
type Task struct {
	Name     string
	Schedule cron.Schedule // as ParseSchedule makes it
	Run      func(context.Context) error
	// Last tells when it ran last, in this process or an earlier one, so that a time that was missed while the process was off is caught up once. nil: the
	// process's start counts as a run.
	Last func(context.Context) (time.Time, error)
}

// housekeeper keeps the times of one task.
type housekeeper struct {
	Task
	base time.Time // of its last run
}

// next is its next time; the zero time when there is none.
func (h *housekeeper) next() time.Time {
	if h.base.IsZero() {
		return h.base
	}
	return h.Schedule.Next(h.base)
}

// taskDue gives the task that has waited longest for its time; nil when none is due.
func (s *Scheduler) taskDue(ctx context.Context) *housekeeper {
	now := s.Engine.Clock.Now()
	var due *housekeeper
	for _, h := range s.tasks {
		if h.base.IsZero() {
			h.base = now
			if h.Last != nil {
				if last, err := h.Last(ctx); err != nil {
					s.log.Error("nobody knows when a task ran last; it runs at its next time", zap.String("task", h.Name), zap.Error(err))
				} else if h.base = last; last.IsZero() {
					h.base = now.Add(-time.Nanosecond - 100*365*24*time.Hour) // it never ran
				}
			}
		}
		if h.base.After(now.Add(future)) { // the clock was set back: it runs once
			h.base = time.Unix(0, 0)
		}
		if next := h.next(); !next.IsZero() && !next.After(now) && (due == nil || next.Before(due.next())) {
			due = h
		}
	}
	return due
}

// perform does a task. A panic is its error: the other tasks and the jobs go on.
func (s *Scheduler) perform(ctx context.Context, h *housekeeper) {
	start := s.Engine.Clock.Now()
	err := guarded(ctx, h.Run)
	s.mu.Lock()
	defer s.mu.Unlock()
	h.base, s.tasking = start, ""
	if err != nil && ctx.Err() == nil {
		s.log.Error("a task failed; it is tried again at its next time", zap.String("task", h.Name), zap.Error(err))
	}
	s.nudge()
}

func guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return run(ctx)
}

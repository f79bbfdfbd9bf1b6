// Housekeeping on schedules of its own.

package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"
)

// Task is housekeeping on a schedule of its own. It may run beside a pass, never beside another
// task; its error is logged, and the next time of its schedule is its next try. The ledger knows
// when it began last: times that were missed are caught up once; one that never ran waits for its
// first time.
type Task struct {
	Name     string
	Schedule cron.Schedule // as ParseSchedule makes it
	Run      func(context.Context) error
}

// longAgo is before every time of a schedule that matters.
var longAgo = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

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

// taskDue returns the task that has waited longest for its time; nil when none is due.
func (s *Scheduler) taskDue(ctx context.Context) *housekeeper {
	now := s.Engine.Clock.Now()
	var due *housekeeper
	for _, h := range s.tasks {
		if h.base.IsZero() {
			h.base = s.lastTask(ctx, h.Name, now)
		}
		if h.base.After(now.Add(future)) { // the clock was set back: it runs once
			h.base = longAgo
		}
		if next := h.next(); !next.IsZero() && !next.After(now) && (due == nil || next.Before(due.next())) {
			due = h
		}
	}
	return due
}

// lastTask asks the ledger when a task began last. One that is new counts from now on, also in
// later processes.
func (s *Scheduler) lastTask(ctx context.Context, name string, now time.Time) time.Time {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	last, err := s.Engine.Ledger.Jobs.LastTask(ctx, name)
	if err == nil && last.IsZero() {
		last, err = now, s.Engine.Ledger.Jobs.TaskBegan(ctx, name, now)
	}
	if err != nil {
		s.log.Error("the ledger does not say when a task ran last; it runs at its next time", zap.String("task", name),
			zap.Error(err))
		return now
	}
	return last
}

// perform does a task. A panic is its error: the other tasks and the jobs go on.
func (s *Scheduler) perform(ctx context.Context, h *housekeeper) {
	start := s.Engine.Clock.Now()
	// A task runs although the ledger does not note it: one of them tells people when the ledger
	// fails.
	err := errors.Join(s.Engine.Ledger.Jobs.TaskBegan(ctx, h.Name, start), guarded(ctx, h.Run))
	s.mu.Lock()
	defer s.mu.Unlock()
	h.base, s.tasking = start, ""
	if err != nil && ctx.Err() == nil {
		s.log.Error("a task failed; it is tried again at its next time", zap.String("task", h.Name), zap.Error(err))
	}
	s.wakeLoop()
}

func guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return run(ctx)
}

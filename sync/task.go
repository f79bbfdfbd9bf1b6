// Housekeeping tasks, each on a schedule of its own.

package sync

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/phrase"
)

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

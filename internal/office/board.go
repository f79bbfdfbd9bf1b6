package office

import (
	"context"
	"fmt"
	"slices"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Job is a job as it is configured.
type Job = mapping.JobSpec

// Running is what is running in a process at one moment.
type Running struct {
	Jobs    []Progress
	Turn    string          // another text after each run that began or ended
	Changed <-chan struct{} // closed when any of this changes
}

// Progress is the progress of a running job.
type Progress struct {
	Job   string
	Phase string // reading, sending, waiting
	Read  int
	Done  int
	Total int
	Since time.Time
	Pace  Pace
}

// Pace is when a job began to send, and how much was done then.
type Pace struct {
	Since time.Time
	Done  int
}

// Jobs returns the jobs in the order in which they run.
func (o *Office) Jobs() []Job {
	return trade.Map(o.jobs, func(job *mapping.Job) Job { return job.Spec })
}

// Titles returns the titles of the jobs in a language.
func (o *Office) Titles(lang trade.Lang) trade.Titles { return o.conf.Titles(lang) }

// Progress returns what is running in this process now.
func (o *Office) Progress() Running { return o.board.look() }

// of returns the progress of a job that runs in this process; nil if it does not.
func (b *RunProgress) of(job string) *Progress {
	if b == nil {
		return nil
	}
	for _, p := range b.look().Jobs {
		if p.Job == job {
			return &p
		}
	}
	return nil
}

// JobStatus returns the status of a job. What runs in this process is running, whatever was stored last.
func (o *Office) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	status, err := o.Reads.JobStatus(ctx, job)
	if p := o.board.of(job); err == nil && p != nil && status.State != trade.Paused {
		status = trade.JobStatus{Job: job, State: trade.Running, Since: p.Since}
	}
	return status, err
}

// Goes reports whether a pass goes on, here or in another process; one that does not, and has no end, was
// interrupted.
func (o *Office) Goes(ctx context.Context, pass trade.RunReport) (bool, error) {
	if !pass.EndedAt.IsZero() {
		return false, nil
	}
	if o.board.of(pass.Job) == nil {
		status, err := o.JobStatus(ctx, pass.Job)
		if err != nil || status.State != trade.Running {
			return false, err
		}
	}
	newest, err := o.store.Runs(ctx, pass.Job, 1)
	return len(newest) == 1 && newest[0].ID == pass.ID, err
}

// RunProgress holds the progress of the runs of this process.
type RunProgress struct {
	mu      gosync.Mutex
	jobs    []Progress
	begun   time.Time // tells it from the board of another start
	turns   int       // runs that began or ended
	changed chan struct{}
}

// NewRunProgress returns a board on which no job runs.
func NewRunProgress() *RunProgress { return &RunProgress{begun: Now(), changed: make(chan struct{})} }

// Observe is called by the engine; it must not block.
func (b *RunProgress) Observe(p run.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.jobs, func(j Progress) bool { return j.Job == p.Job })
	next := Progress{
		Job: p.Job, Phase: string(p.Phase), Read: p.Read, Done: p.Done, Total: p.Total, Since: Now(),
	}
	if i >= 0 {
		next.Since, next.Pace = b.jobs[i].Since, b.jobs[i].Pace
		next.Read = max(next.Read, b.jobs[i].Read) // who sends says nothing about what was read
	}
	if p.Phase == run.Sending && next.Pace.Since.IsZero() {
		next.Pace = Pace{Since: Now(), Done: p.Done}
	}
	b.jobs = slices.Clone(b.jobs) // others read the old one
	switch {
	case p.Phase == run.Done:
		b.turns++
		b.jobs = slices.DeleteFunc(b.jobs, func(j Progress) bool { return j.Job == p.Job })
	case i < 0:
		b.turns++
		b.jobs = append(b.jobs, next)
	default:
		b.jobs[i] = next
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *RunProgress) look() Running {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Running{
		Jobs: b.jobs, Turn: fmt.Sprintf("%d.%d", b.begun.UnixMilli(), b.turns), Changed: b.changed,
	}
}

package desk

import (
	"fmt"
	"slices"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/run"
)

// work is the engine of a generation, as package console uses it.
type work struct{ g *Host }

// nextRunsShown is how many times of a schedule are shown.
const nextRunsShown = 3

// Jobs returns the jobs in the order in which they run.
func (w *work) Jobs() []pages.Job {
	out := make([]pages.Job, len(w.g.Engine.Jobs))
	for i, job := range w.g.Engine.Jobs {
		out[i] = pages.Job{Name: job.Name(), Title: job.Spec.Title, Sends: job.Spec.Sends, Key: job.Spec.Key}
		schedule, err := clock.ParseSchedule(job.Spec.Schedule, w.g.App.Config.Zone())
		if err != nil {
			continue
		}
		next := office.NextTimes(schedule, office.Now())
		out[i].NextRuns = next[:min(len(next), nextRunsShown)]
	}
	return out
}

// Progress returns what is running in this process now.
func (w *work) Progress() pages.Running { return w.g.Board.look() }

// Board holds the progress of the runs of this process.
type Board struct {
	mu      gosync.Mutex
	jobs    []pages.Progress
	begun   time.Time // tells it from the board of another start
	ended   int       // runs that ended
	changed chan struct{}
}

// NewBoard returns a board on which no job runs.
func NewBoard() *Board { return &Board{begun: office.Now(), changed: make(chan struct{})} }

// Observe is called by the engine; it must not block.
func (b *Board) Observe(p run.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.jobs, func(j pages.Progress) bool { return j.Job == p.Job })
	next := pages.Progress{
		Job: p.Job, Phase: string(p.Phase), Read: p.Read, Done: p.Done, Total: p.Total, Since: office.Now(),
	}
	if i >= 0 {
		next.Since, next.Pace = b.jobs[i].Since, b.jobs[i].Pace
		next.Read = max(next.Read, b.jobs[i].Read) // who sends says nothing about what was read
	}
	if p.Phase == run.Sending && next.Pace.Since.IsZero() {
		next.Pace = pages.Pace{Since: office.Now(), Done: p.Done}
	}
	switch {
	case p.Phase == run.Done:
		b.ended++
		b.jobs = slices.DeleteFunc(slices.Clone(b.jobs), func(j pages.Progress) bool { return j.Job == p.Job })
	case i < 0:
		b.jobs = append(slices.Clone(b.jobs), next)
	default:
		b.jobs = slices.Clone(b.jobs)
		b.jobs[i] = next
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Board) look() pages.Running {
	b.mu.Lock()
	defer b.mu.Unlock()
	return pages.Running{
		Jobs: b.jobs, Ended: fmt.Sprintf("%d.%d", b.begun.UnixMilli(), b.ended), Changed: b.changed,
	}
}

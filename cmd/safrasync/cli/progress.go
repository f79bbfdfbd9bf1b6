package cli

import (
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/safrasync/safrasync/sync/run"
)

// Watcher prints the progress of a run. A short run prints nothing before its summary.
type Watcher interface {
	Observe(run.Progress) // called by one goroutine at a time
	Close()               // returns when nothing more is written
}

// Watch returns a progress bar for terminals, and plain lines for everything else. With --verbose
// it never returns a bar, because the log has the details.
func (a *App) Watch() Watcher {
	if IsTerminal(a.Stderr) && !a.Verbose {
		return newBar(a)
	}
	return &plainWatcher{app: a, since: time.Since, saidAt: time.Now()}
}

// Without a terminal a run prints at most one line every ten seconds, and while it sends at most
// one for each tenth.
const (
	plainInterval = 10 * time.Second
	PlainTenths   = 10
)

// plainWatcher prints a line from time to time.
type plainWatcher struct {
	app    *App
	since  func(time.Time) time.Duration
	saidAt time.Time
	job    string // of the last line about sending
	tenth  int    // in the last line about sending
}

func (w *plainWatcher) Observe(p run.Progress) {
	if w.since(w.saidAt) < plainInterval {
		return
	}
	switch p.Phase {
	case run.Reading:
		w.app.Tell("%s: reading the ERP, %d {row|rows} so far", p.Job, p.Read)
	case run.Sending:
		tenth := p.Done * PlainTenths / max(p.Total, 1)
		if p.Job == w.job && tenth == w.tenth {
			return
		}
		w.job, w.tenth = p.Job, tenth
		w.app.Tell("%s: sending, %d of %d", p.Job, p.Done, p.Total)
	case run.Resting:
		w.app.Tell("%s: waiting until %s", p.Job, w.app.restsUntil(p.Note))
	default:
		return
	}
	w.saidAt = time.Now()
}

// restsUntil returns the end of a pause as people write it; the engine writes it in RFC 3339.
func (a *App) restsUntil(note string) string {
	until, err := time.Parse(time.RFC3339, note)
	if err != nil {
		return note
	}
	return until.In(a.Voice().Zone).Format("15:04:05")
}

func (w *plainWatcher) Close() {}

// bar draws one line for each job.
type bar struct {
	app      *App
	writer   progress.Writer
	trackers map[string]*progress.Tracker
	ended    chan struct{}
}

func newBar(a *App) *bar {
	w := progress.NewWriter()
	w.SetOutputWriter(a.Stderr)
	w.SetUpdateFrequency(200 * time.Millisecond)
	w.SetTrackerPosition(progress.PositionRight)
	w.SetMessageLength(32)
	w.Style().Visibility.Speed = true
	w.Style().Visibility.ETA = true
	b := &bar{app: a, writer: w, trackers: map[string]*progress.Tracker{}, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		w.Render()
	}()
	return b
}

func (b *bar) Observe(p run.Progress) {
	t := b.trackers[p.Job]
	if t == nil {
		t = &progress.Tracker{Message: b.app.Text("%s: reading the ERP", p.Job)}
		b.trackers[p.Job] = t
		b.writer.AppendTracker(t)
	}
	switch p.Phase {
	case run.Reading:
		t.SetValue(int64(p.Read))
	case run.Sending:
		t.UpdateMessage(b.app.Text("%s: sending", p.Job))
		t.UpdateTotal(int64(max(p.Total, 1)))
		t.SetValue(int64(p.Done))
	case run.Resting:
		t.UpdateMessage(b.app.Text("%s: waiting until %s", p.Job, b.app.restsUntil(p.Note)))
	case run.Done:
		t.UpdateMessage(p.Job)
		t.MarkAsDone()
	}
}

func (b *bar) Close() {
	for _, t := range b.trackers {
		t.MarkAsDone()
	}
	// Stop has no effect on a Render that has not begun.
	for {
		b.writer.Stop()
		select {
		case <-b.ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

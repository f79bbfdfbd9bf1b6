package daemon

import (
	"context"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// statusLine is the last status that was reported to the service manager.
type statusLine struct {
	stale atomic.Bool
	busy  gosync.Mutex // held while a status is reported
	text  string
	beat  time.Time // last heartbeat in the ledger
	late  bool      // the log tells that the witness is not written
	slow  bool      // the log has told that the witness is slow

	refused atomic.Pointer[string] // what the last reload did not take over, and why; nil if it took all
}

// reportStatus updates the heartbeat in the ledger and the status at the service manager. It works in a
// goroutine of its own, because the scheduler must not wait for a slow ledger.
func (d *daemon) reportStatus(g *generation) {
	d.said.stale.Store(true)
	d.telling.Go(func() {
		d.said.busy.Lock()
		defer d.said.busy.Unlock()
		if !d.said.stale.Swap(false) {
			return // a later call has already reported everything
		}
		ctx := context.Background()
		if office.Now().Sub(d.said.beat).Abs() >= state.ServiceBeat {
			d.said.beat = office.Now()
			if err := d.store.StillServing(ctx, office.Now(), g.Config.EngineBrakes().Absence); err != nil {
				d.log.Warn("the ledger was not told that the service goes on", zap.Error(err))
			}
		}
		if w, err := d.store.Witness(ctx); err == nil { // each change is logged once
			if w.Slow && !d.said.slow {
				d.said.slow = true
				d.log.Warn("the witness of the ledger is slow: requests do not wait for it, and an image of this machine that is a moment older than it would not be noticed",
					zap.String("witness", w.Place))
			}
			late := !w.Late.IsZero()
			if late && !d.said.late {
				d.log.Warn("the witness of the ledger is not written: an image of this machine of a later time would not be noticed",
					zap.String("witness", w.Place), zap.Time("since", w.Late), zap.Error(w.Fault))
			} else if d.said.late && !late {
				d.log.Info("the witness of the ledger is written again", zap.String("witness", w.Place))
			}
			d.said.late = late
		}
		if text := d.sentence(ctx, g); text != d.said.text {
			d.said.text = text
			d.manager.Status(text)
		}
	})
}

// sentence returns the status of the service: first what is wrong, then what comes next.
func (d *daemon) sentence(ctx context.Context, g *generation) string {
	v := g.Voice()
	var wrong []string
	if refused := d.said.refused.Load(); refused != nil {
		wrong = append(wrong, *refused)
	}
	wrong = append(wrong, g.absent...)
	var running, stops, stopped []string // why some jobs do not send, and which
	var next string
	var nextAt time.Time
	ran := false
	for _, job := range g.engine.Jobs {
		status, err := g.office.JobStatus(ctx, job.Name())
		if err != nil {
			return v.Text("the ledger is not responding: %s", firstLine(v, err))
		}
		ran = ran || !status.Since.IsZero() && status.Since.After(d.begun)
		switch {
		case status.State == trade.Running:
			running = append(running, job.Name())
		case status.State != trade.Idle && status.Stop != nil:
			what, why := job.Name()+" "+v.Text("job.state."+string(status.State)), v.Stop(*status.Stop)
			if i := slices.Index(stops, why); i >= 0 {
				stopped[i] += ", " + what
			} else {
				stops, stopped = append(stops, why), append(stopped, what)
			}
		}
		schedule, err := clock.ParseSchedule(job.Spec.Schedule, g.Config.Zone())
		if err != nil {
			continue
		}
		if at := schedule.Next(office.Now()); !at.IsZero() && (nextAt.IsZero() || at.Before(nextAt)) {
			next, nextAt = job.Name(), at
		}
	}
	for i, why := range stops {
		wrong = append(wrong, stopped[i]+": "+why)
	}
	if !ran { // the results of the checks hold until a run shows more
		wrong = slices.Concat(g.troubles, wrong)
	}
	text := v.Text("serving %d {job|jobs}; the next is %s, at %s", len(g.engine.Jobs), next, v.Moment(nextAt))
	if len(running) > 0 {
		text = v.Text("running: %s", strings.Join(running, ", "))
	}
	if len(wrong) > 0 {
		text = strings.Join(wrong, "; ") + "; " + text
	}
	return text
}

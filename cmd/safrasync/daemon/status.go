package daemon

import (
	"context"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// statusLine is what the service manager was told last.
type statusLine struct {
	stale atomic.Bool
	busy  gosync.Mutex // held while it is told
	text  string
	beat  time.Time // when the ledger was told that the service goes on

	mu      gosync.Mutex
	trouble string // a reload that was refused
}

// refused notes why a reload was refused; "" when the last one was not.
func (s *statusLine) refused(trouble string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

// tell lets the ledger and the service manager know how the service does. It does so beside the
// scheduler, which must not wait for a ledger that is slow.
func (d *daemon) tell(g *generation) {
	d.said.stale.Store(true)
	d.telling.Go(func() {
		d.said.busy.Lock()
		defer d.said.busy.Unlock()
		if !d.said.stale.Swap(false) {
			return // somebody has said it all
		}
		ctx := context.Background()
		if cli.Now().Sub(d.said.beat).Abs() >= state.ServiceBeat {
			d.said.beat = cli.Now()
			if err := d.store.StillServing(ctx); err != nil {
				d.log.Warn("the ledger was not told that the service goes on", zap.Error(err))
			}
		}
		if text := d.sentence(ctx, g); text != d.said.text {
			d.said.text = text
			d.manager.Status(text)
		}
	})
}

// sentence says how the service does: what is wrong first, then what comes next.
func (d *daemon) sentence(ctx context.Context, g *generation) string {
	v := g.Voice()
	var wrong []string
	d.said.mu.Lock()
	if d.said.trouble != "" {
		wrong = append(wrong, d.said.trouble)
	}
	d.said.mu.Unlock()
	var running []string
	var next string
	var nextAt time.Time
	ran := false
	for _, job := range g.engine.Jobs {
		status, err := cli.Truthful{Store: d.store}.JobStatus(ctx, job.Name())
		if err != nil {
			return v.Text("run.ledger_down", firstLine(v, err))
		}
		ran = ran || !status.Since.IsZero() && status.Since.After(d.begun)
		switch {
		case status.State == trade.Running:
			running = append(running, job.Name())
		case status.State != trade.Idle && status.Stop != nil:
			wrong = append(wrong, job.Name()+" "+v.Text(i18n.Key("job.state."+string(status.State)))+": "+
				v.Stop(*status.Stop))
		}
		schedule, err := clock.ParseSchedule(job.Spec.Schedule, g.Config.Zone())
		if err != nil {
			continue
		}
		if at := schedule.Next(cli.Now()); !at.IsZero() && (nextAt.IsZero() || at.Before(nextAt)) {
			next, nextAt = job.Name(), at
		}
	}
	if !ran { // what the checks found holds until a run has said more
		wrong = slices.Concat(g.troubles, wrong)
	}
	text := v.Text("run.idle", len(g.engine.Jobs), next, v.Moment(nextAt))
	if len(running) > 0 {
		text = v.Text("run.busy", strings.Join(running, ", "))
	}
	if len(wrong) > 0 {
		text = strings.Join(wrong, "; ") + "; " + text
	}
	return text
}

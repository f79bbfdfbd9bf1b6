package office

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Season is the season for pictures, with what was sent each day.
type Season struct {
	*reconcile.Season
	Calendar []SentDay // the last days, the earliest first
	took     time.Duration
}

// SentDay is one day of runs.
type SentDay struct {
	At      time.Time
	Sent    int
	Refused bool // more rows were refused after a run than before it
}

// calendarDays is how many days have their place in the calendar: half a year of whole weeks.
const calendarDays = 26 * 7

// seasonShare is how many times as long as it took a count of the season holds, so that counting takes
// at most that share of a core.
const seasonShare = 10

// counting is a count of the season in progress.
type counting struct {
	done   chan struct{} // closed when it has ended
	season *Season       // the result, once done is closed
	err    error
}

// Season returns the season. That of a ledger of few rows is counted for each page. A larger one is
// counted in the background: it is nil until the first count has ended, and may be some time old.
func (o *Office) Season(ctx context.Context) (*Season, error) {
	rows := 0
	for _, job := range o.jobs {
		tallies, err := o.store.Counts(ctx, job.Name())
		if err != nil {
			return nil, err
		}
		rows += trade.RowsIn(tallies)
	}
	small := rows <= o.waitFor
	o.mu.Lock()
	last, running := o.season, o.counting
	fresh := !small && last != nil && o.now().Sub(last.At).Abs() < max(stuckHolds, seasonShare*last.took)
	if running == nil && !fresh && !o.ended {
		running = &counting{done: make(chan struct{})}
		o.counting = running
		o.working.Go(func() { o.count(running) })
	}
	o.mu.Unlock()
	if running == nil {
		return last, nil
	}
	patience := o.patience
	if small {
		patience = o.reportPatience
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-running.done:
		return running.season, running.err
	case <-late.C:
		return last, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// count counts the season, and keeps it.
func (o *Office) count(c *counting) {
	begun := time.Now()
	c.season, c.err = o.countSeason()
	if c.err != nil && o.ending.Err() == nil {
		o.log.Warn("the console could not count the season", zap.Error(c.err))
	}
	o.mu.Lock()
	o.counting = nil
	if c.err == nil {
		c.season.took = time.Since(begun)
		o.season = c.season
	}
	o.mu.Unlock()
	close(c.done)
}

func (o *Office) countSeason() (out *Season, err error) {
	ctx, now, zone := o.ending, o.now(), o.conf.Zone()
	out = &Season{}
	err = o.snapshot(ctx, reconcile.Cut{}, ReportSources{}, func(s *reconcile.Snapshot) (err error) {
		out.Season, err = s.Season(o.fixer())
		return err
	})
	if err != nil {
		return nil, err
	}
	year, month, day := now.In(zone).Date()
	first := time.Date(year, month, day-calendarDays+1, 0, 0, 0, 0, zone)
	for i := range calendarDays {
		out.Calendar = append(out.Calendar, SentDay{At: first.AddDate(0, 0, i)})
	}
	refused := map[string]int{}
	return out, o.store.RunsEnded(ctx, first, now, func(r trade.RunReport) error {
		ended := r.EndedAt.In(zone)
		for i := len(out.Calendar) - 1; i >= 0; i-- {
			if d := &out.Calendar[i]; !ended.Before(d.At) {
				d.Sent += r.RowsSent()
				before, known := refused[r.Job]
				d.Refused = d.Refused || known && r.States[trade.Rejected] > before
				break
			}
		}
		refused[r.Job] = r.States[trade.Rejected]
		return nil
	})
}

package office

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/sync/reconcile"
)

// Season is what the pictures of a season are made of.
type Season struct {
	At      time.Time
	Seasons []*reconcile.Season // the present one first
	took    time.Duration
}

// seasonShare is how many times as long as it took a count of the season holds, so that counting takes
// at most that share of a core.
const seasonShare = 10

// Season returns the season. That of a ledger of few rows is counted for each page. A larger one is
// counted in the background: it is nil until the first count has ended, and may be some time old.
func (o *Office) Season(ctx context.Context) (*Season, error) {
	rows, err := o.rowsIn(ctx)
	if err != nil {
		return nil, err
	}
	small := rows <= o.waitFor
	o.mu.Lock()
	last, running := o.season, o.seasonCount
	fresh := !small && last != nil && o.now().Sub(last.At).Abs() < max(stuckHolds, seasonShare*last.took)
	if running == nil && !fresh {
		begun := time.Now()
		running = begin(o, "the console could not count the season", func(ctx context.Context) (*Season, error) {
			out := &Season{}
			return out, o.snapshot(ctx, reconcile.Cut{}, ReportSources{}, func(s *reconcile.Snapshot) (err error) {
				out.At = s.Head.At
				out.Seasons, err = s.Seasons(o.fixer())
				return err
			})
		}, func(w *work[*Season]) {
			o.seasonCount = nil
			if w.err == nil {
				w.answer.took = time.Since(begun)
				o.season = w.answer
			}
		})
		o.seasonCount = running
	}
	o.mu.Unlock()
	if running == nil {
		return last, nil
	}
	patience := o.patience
	if small {
		patience = o.reportPatience
	}
	over, err := running.wait(ctx, patience)
	switch {
	case err != nil:
		return nil, err
	case !over:
		return last, nil
	}
	return running.answer, running.err
}

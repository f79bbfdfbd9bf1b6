package erp

import (
	"time"

	"github.com/safrasync/safrasync/erp/dialect"
)

// reach is how far back a window goes, for a read that tells which rows it would have left out.
type reach struct {
	from  time.Time // as the column's values are read: without a zone where they have none
	now   time.Time // the database's clock, read in the same way
	asked bool
}

// setReach finds out how far back the window goes. Where that is not certain, it goes further: no
// row is called late that a window would have shown.
func (r *reader) setReach(clk dialect.Clock) {
	since, ok := dialect.ParseMoment(r.window.Since)
	if !r.window.Whole || r.plan.changed < 0 || !ok {
		return
	}
	lookback := max(r.window.Lookback, 0)
	if since.Sep == "" || r.tracker.col.Type == "date" {
		lookback = max(lookback, 48*time.Hour)
		lookback += 24 * time.Hour // whole days
	}
	if since.Zoned && r.source.engine.ChangedAt.AsText {
		lookback += 26 * time.Hour
	}
	r.reach = reach{from: since.At.Add(-lookback), now: clk.Now, asked: true}
	for _, l := range clk.Limits(r.tracker.col, since) {
		if !l.WarnAfter.IsZero() { // now(), in the column's type
			r.reach.now = l.At
		}
	}
}

// late reports how late a row is seen that was changed at this time. One without a time of change
// is in every window, and never late.
func (r *reader) late(changed time.Time) time.Duration {
	if !r.reach.asked || !changed.Before(r.reach.from) {
		return 0
	}
	return max(r.reach.now.Sub(changed), 1)
}

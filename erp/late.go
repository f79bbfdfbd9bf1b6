package erp

import (
	"time"

	"github.com/safrasync/safrasync/erp/dialect"
)

// reach is the start of a window, for a read that determines which rows the window would have left
// out.
type reach struct {
	from  time.Time // in the form of the column's values: without a zone if they have none
	now   time.Time // the database's clock, in the same form
	asked bool
}

// setReach determines the start of the window. If it is not certain, it takes an earlier time, so
// that no row is called late that a window would have returned.
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

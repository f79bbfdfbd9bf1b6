package erp

import (
	"time"

	"github.com/safrasync/safrasync/erp/dialect"
)

// boundTracker finds the newest change among the rows of a read.
type boundTracker struct {
	col    Column
	newest dialect.Moment
	text   string
	seen   bool
	odd    bool // infinity, or a year outside our calendar
}

// observe processes the stored text of a row's changed_at, and returns its time, if it has one.
func (t *boundTracker) observe(raw *Value) (time.Time, bool) {
	if raw.Kind == Null || raw.Err != "" {
		return time.Time{}, false
	}
	m, ok := dialect.ParseMoment(raw.Text)
	if !ok {
		if raw.Text == "infinity" || dialect.FarFuture(raw.Text) {
			t.odd = true
		}
		return time.Time{}, false
	}
	if !t.seen || m.At.After(t.newest.At) {
		t.newest, t.text, t.seen = m, raw.Text, true
	}
	return m.At, true
}

// bound applies the limits. Result.Bound describes the rule.
func (t *boundTracker) bound(since string, c dialect.Clock) (text string, future bool) {
	future = t.odd
	if !t.seen {
		return since, future
	}
	text, at := t.text, t.newest.At
	for _, l := range c.Limits(t.col, t.newest) {
		if !l.WarnAfter.IsZero() && t.newest.At.After(l.WarnAfter) {
			future = true
		}
		if at.After(l.At) {
			text, at = l.Text, l.At
		}
	}
	if old, ok := dialect.ParseMoment(since); ok && !at.After(old.At) {
		return since, future
	}
	return text, future
}

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

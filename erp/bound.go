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

package erp

import "time"

// boundTracker finds the newest change among the rows of a read.
type boundTracker struct {
	col    Column
	newest moment
	text   string
	seen   bool
	odd    bool // infinity or a year that no calendar of ours knows
}

// observe takes the stored text of a row's changed_at, and gives the time that it
// says, if it says one.
func (t *boundTracker) observe(raw *Value) (time.Time, bool) {
	if raw.Kind == Null || raw.Err != "" {
		return time.Time{}, false
	}
	m, ok := parseMoment(raw.Text)
	if !ok {
		if raw.Text == "infinity" || farFuture(raw.Text) {
			t.odd = true
		}
		return time.Time{}, false
	}
	if !t.seen || m.at.After(t.newest.at) {
		t.newest, t.text, t.seen = m, raw.Text, true
	}
	return m.at, true
}

// bound applies the limits. See Result.Bound for the rule.
func (t *boundTracker) bound(since string, c clock) (text string, future bool) {
	future = t.odd
	if !t.seen {
		return since, future
	}
	text, at := t.text, t.newest.at
	for _, l := range c.limits(t.col, t.newest) {
		if !l.warnAfter.IsZero() && t.newest.at.After(l.warnAfter) {
			future = true
		}
		if at.After(l.at) {
			text, at = l.text, l.at
		}
	}
	if old, ok := parseMoment(since); ok && !at.After(old.at) {
		return since, future
	}
	return text, future
}

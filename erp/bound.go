package erp

import "time"

// clock is what the database says about the present, taken before the snapshot
// of the rows: a transaction that starts after it cannot stamp an older time,
// and one that was open then is in the horizon, if we may see it.
type clock struct {
	now time.Time
	// limits are the texts a bound is cut to, by the type of the column:
	// now() and, where visible, the start of the oldest open transaction.
	limits func(col Column, sample moment) []limit
}

// limit is a latest moment for the bound.
type limit struct {
	text string
	at   time.Time
	// warnAfter is when a value counts as lying in the future; zero: this
	// limit never makes it so.
	warnAfter time.Time
}

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

// naiveLimits are the limits where a stored time may have no zone: it may be
// UTC or local, so the bound takes the earlier reading and the warning the
// later one. horizon is the start of the oldest open transaction; zero: not known.
func naiveLimits(now, horizon time.Time, zone *time.Location) func(Column, moment) []limit {
	return func(_ Column, sample moment) []limit {
		l := naiveLimit(now, zone, sample)
		if horizon.IsZero() {
			return []limit{l}
		}
		h := naiveLimit(horizon, zone, sample)
		h.warnAfter = time.Time{}
		return []limit{l, h}
	}
}

func naiveLimit(at time.Time, zone *time.Location, sample moment) limit {
	if sample.zoned {
		return limit{text: sample.like(at), at: at, warnAfter: at}
	}
	_, offset := at.In(zone).Zone()
	early, late := at, at.Add(time.Duration(offset)*time.Second)
	if late.Before(early) {
		early, late = late, early
	}
	l := limit{text: sample.like(early), at: early, warnAfter: late}
	if sample.sep == "" {
		l.at = early.Truncate(24 * time.Hour)
	}
	return l
}

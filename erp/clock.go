package erp

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
)

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

// readClock reads a clock in UTC by a query that gives it as text.
func readClock(ctx context.Context, c *sqlx.Conn, query string, zone *time.Location) (clock, error) {
	var text string
	if err := c.GetContext(ctx, &text, query); err != nil {
		return clock{}, err
	}
	m, ok := parseMoment(text)
	if !ok {
		return clock{}, failf(CodeOther, "the ERP database's clock cannot be read")
	}
	return clock{now: m.at, limits: naiveLimits(m.at, time.Time{}, zone)}, nil
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

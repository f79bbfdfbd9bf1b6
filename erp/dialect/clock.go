package dialect

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
)

// Clock is what the database says about the present, taken before the snapshot
// of the rows: a transaction that starts after it cannot stamp an older time,
// and one that was open then is in the horizon, if we may see it.
type Clock struct {
	Now time.Time
	// Limits are the texts a bound is cut to, by the type of the column:
	// now() and, where visible, the start of the oldest open transaction.
	Limits func(col Column, sample Moment) []Limit
}

// Limit is a latest moment for the bound.
type Limit struct {
	Text string
	At   time.Time
	// WarnAfter is when a value counts as lying in the future; zero: this
	// limit never makes it so.
	WarnAfter time.Time
}

// ReadClock reads a clock in UTC by a query that gives it as text.
func ReadClock(ctx context.Context, c *sqlx.Conn, query string, zone *time.Location) (Clock, error) {
	var text string
	if err := c.GetContext(ctx, &text, query); err != nil {
		return Clock{}, err
	}
	m, ok := ParseMoment(text)
	if !ok {
		return Clock{}, fault.Failf(fault.CodeOther, "the ERP database's clock cannot be read")
	}
	return Clock{Now: m.At, Limits: NaiveLimits(m.At, time.Time{}, zone)}, nil
}

// NaiveLimits are the limits where a stored time may have no zone: it may be
// UTC or local, so the bound takes the earlier reading and the warning the
// later one. horizon is the start of the oldest open transaction; zero: not known.
func NaiveLimits(now, horizon time.Time, zone *time.Location) func(Column, Moment) []Limit {
	return func(_ Column, sample Moment) []Limit {
		l := naiveLimit(now, zone, sample)
		if horizon.IsZero() {
			return []Limit{l}
		}
		h := naiveLimit(horizon, zone, sample)
		h.WarnAfter = time.Time{}
		return []Limit{l, h}
	}
}

func naiveLimit(at time.Time, zone *time.Location, sample Moment) Limit {
	if sample.Zoned {
		return Limit{Text: sample.Like(at), At: at, WarnAfter: at}
	}
	_, offset := at.In(zone).Zone()
	early, late := at, at.Add(time.Duration(offset)*time.Second)
	if late.Before(early) {
		early, late = late, early
	}
	l := Limit{Text: sample.Like(early), At: early, WarnAfter: late}
	if sample.Sep == "" {
		l.At = early.Truncate(24 * time.Hour)
	}
	return l
}

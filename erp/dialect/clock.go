package dialect

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
)

// Clock is the present time of the database, read before the snapshot of the rows. A transaction
// that starts after it cannot stamp an older time, and one that was open then is in the horizon, if
// it is visible.
type Clock struct {
	Now time.Time
	// Limits returns the values to which a bound is limited, by the type of the column: now() and,
	// if visible, the start of the oldest open transaction.
	Limits func(col Column, sample Moment) []Limit
}

// Limit is the latest time for the bound.
type Limit struct {
	Text string
	At   time.Time
	// WarnAfter is the time after which a value counts as being in the future. Zero: this limit
	// does not cause a warning.
	WarnAfter time.Time
}

// ReadClock reads a clock in UTC with a query that returns it as text.
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

// NaiveLimits returns the limits for columns whose times may have no zone. Such a time may be UTC
// or local, so the bound uses the earlier interpretation and the warning the later one. horizon is
// the start of the oldest open transaction; zero: not known.
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

// Schedules with fixed hours, on days when the clock is set.

package clock

import (
	"time"

	"github.com/robfig/cron/v3"
)

// starBit is the library's mark of a field that is "*".
const starBit = 1 << 63

// civil is a schedule with fixed hours ("30 23 * * *"). The library compares them with the clock of
// the zone: an hour that is skipped when the clock is set forward never comes, and an hour that is
// repeated when it is set back comes twice. Here each local time comes once: a skipped one at the
// moment when the clock is set forward, a repeated one the first time (F077).
type civil struct {
	spec cron.SpecSchedule // evaluated in UTC, which has no clock changes
	zone *time.Location
}

// Next returns the first time after t, or the zero time if there is none.
func (c civil) Next(t time.Time) time.Time {
	on := asUTC(t.In(c.zone))
	for {
		on = c.spec.Next(on)
		if on.IsZero() {
			return on
		}
		if at := c.moment(on); at.After(t) {
			return at.In(t.Location())
		}
	}
}

// asUTC returns the local time of t, as if it were UTC.
func asUTC(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// moment returns when the clock of the zone first shows a local time; if it never does, the moment
// when it is set forward past it.
func (c civil) moment(on time.Time) time.Time {
	near := time.Date(on.Year(), on.Month(), on.Day(), on.Hour(), on.Minute(), on.Second(), 0, c.zone)
	start, end := near.ZoneBounds()
	candidates := []time.Time{near}
	for _, bound := range []time.Time{start, end} {
		if bound.IsZero() {
			continue
		}
		_, before := bound.Add(-time.Nanosecond).Zone()
		_, after := bound.Zone()
		candidates = append(candidates, on.Add(-time.Duration(before)*time.Second),
			on.Add(-time.Duration(after)*time.Second))
		if shown := time.Duration(before) * time.Second; !asUTC(bound.UTC()).Add(shown).After(on) &&
			asUTC(bound.In(c.zone)).After(on) {
			return bound
		}
	}
	var first time.Time
	for _, at := range candidates {
		if asUTC(at.In(c.zone)).Equal(on) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return near
	}
	return first
}

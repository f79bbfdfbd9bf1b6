package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Decimal formats a decimal.
func (v Voice) Decimal(d trade.Decimal) string { return trade.NumberText(d.String(), v.lang) }

// Number formats a whole number.
func (v Voice) Number(n int) string { return trade.NumberText(strconv.Itoa(n), v.lang) }

// Time formats a time in the cooperative's zone; "–" for the zero time.
func (v Voice) Time(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return trade.MomentText(t, v.lang, v.zone)
}

// Clock formats the hour and minute of a time in the cooperative's zone.
func (v Voice) Clock(t time.Time) string { return t.In(v.zone).Format("15:04") }

// Day formats the day of a time in the cooperative's zone.
func (v Voice) Day(t time.Time) string {
	if v.lang == trade.English {
		return t.In(v.zone).Format("2006-01-02")
	}
	return t.In(v.zone).Format("02/01/2006")
}

// ISO formats a time for machines, as the attribute of a time element.
func (v Voice) ISO(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// In formats how long from now a time is: "em 4 min".
func (v Voice) In(now, at time.Time) string {
	switch d := at.Sub(now); {
	case d < time.Minute:
		return v.T("in a moment")
	case d < 2*time.Hour:
		return v.T("in %s min", int(d.Round(time.Minute)/time.Minute))
	case d < 24*time.Hour:
		return v.T("in %s h", int(d.Round(time.Hour)/time.Hour))
	default:
		return v.T("in %s {day|days}", int(d.Round(24*time.Hour)/(24*time.Hour)))
	}
}

// Span formats a duration, rounded up to whole seconds.
func (v Voice) Span(d time.Duration) string {
	seconds := int((d + time.Second - 1) / time.Second)
	switch {
	case seconds < 60:
		return strconv.Itoa(seconds) + " s"
	case seconds < 3600:
		return strings.TrimSuffix(fmt.Sprintf("%d min %d s", seconds/60, seconds%60), " 0 s")
	}
	return strings.TrimSuffix(fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60), " 0 min")
}

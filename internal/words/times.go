package words

import (
	"regexp"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// ShortTimes formats times without their year.
func (v Voice) ShortTimes(times []time.Time) []string {
	form := "02/01 15:04"
	if v.Lang == trade.English {
		form = "01-02 15:04"
	}
	return trade.Map(times, func(t time.Time) string { return t.In(v.Zone).Format(form) })
}

// ExplainCron returns usual schedules in words. For any other it returns a phrase only: the times
// that are shown beside it must explain it.
func (v Voice) ExplainCron(text string) string {
	zone := ""
	if name, rest, ok := strings.Cut(text, " "); ok &&
		(strings.HasPrefix(name, "CRON_TZ=") || strings.HasPrefix(name, "TZ=")) {
		_, place, _ := strings.Cut(name, "=")
		zone, text = v.Text(", in the zone %s", place), strings.TrimSpace(rest)
	}
	if d, ok := strings.CutPrefix(text, "@every "); ok {
		return v.Text("every %s, counted from the last run", d) + zone
	}
	text = strings.Join(strings.Fields(text), " ")
	if m := everyMinutes.FindStringSubmatch(text); m != nil {
		return v.Text("every %s {minute|minutes}", m[1]) + zone
	}
	if m := someMinutes.FindStringSubmatch(text); m != nil {
		return v.Text("every %s {minute|minutes}, from %s:00 to %s:59", m[1], m[2], m[3]) + zone
	}
	if m := minutesFrom.FindStringSubmatch(text); m != nil {
		return v.Text("every %s {minute|minutes}, from minute %s to %s of each hour", m[3], m[1], m[2]) + zone
	}
	if m := everyHour.FindStringSubmatch(text); m != nil {
		return v.Text("every hour, at minute %s", m[1]) + zone
	}
	if m := everyDay.FindStringSubmatch(text); m != nil {
		return v.Text("every day at %s:%s", twoDigits(m[2]), twoDigits(m[1])) + zone
	}
	return v.Text("minute, hour, day, month, weekday") + zone
}

// Span formats a duration, rounded up to whole seconds.
func (v Voice) Span(d time.Duration) string {
	return (time.Duration(RoundUp(d)) * time.Second).String()
}

// RoundUp returns a duration in seconds, rounded up.
func RoundUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

var (
	everyMinutes = regexp.MustCompile(`^\*/(\d+) \* \* \* \*$`)
	minutesFrom  = regexp.MustCompile(`^(\d+)-(\d+)/(\d+) \* \* \* \*$`)
	everyHour    = regexp.MustCompile(`^(\d+) \* \* \* \*$`)
	everyDay     = regexp.MustCompile(`^(\d+) (\d+) \* \* \*$`)
	someMinutes  = regexp.MustCompile(`^\*/(\d+) (\d+)-(\d+) \* \* \*$`)
)

func twoDigits(text string) string {
	if len(text) < 2 {
		return "0" + text
	}
	return text
}

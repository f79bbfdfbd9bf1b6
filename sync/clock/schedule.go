// Reading of cron expressions.

package clock

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// anyTime is as good as any other for asking whether a schedule ever comes: the library looks five
// years ahead, which finds a 29 February.
var anyTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// ParseSchedule reads a schedule in the syntax of robfig/cron ("*/10 * * * *", "@every 1h",
// "CRON_TZ=America/Cuiaba 0 3 * * *"). Without a zone of its own it counts in the zone given. It
// refuses what the library accepts and never runs, or dies of. Hours that are named come once on
// each day, also on those on which the clock is set.
func ParseSchedule(text string, zone *time.Location) (schedule cron.Schedule, err error) {
	defer func() {
		if recover() != nil { // the library slices out of bounds on a zone without a schedule
			schedule, err = nil, fmt.Errorf("%q is not a schedule: write five fields, as in \"*/10 * * * *\"", text)
		}
	}()
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		// the library would run these every second
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err == nil && d < time.Second {
			return nil, fmt.Errorf("%q is too often: one second is the least", text)
		}
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a schedule: %w", text, err)
	}
	if s, ok := parsed.(*cron.SpecSchedule); ok && s.Location == time.Local {
		s.Location = zone
	}
	if parsed.Next(anyTime).IsZero() {
		return nil, fmt.Errorf("%q never comes: there is no such day", text)
	}
	return keepBusinessDays(parsed), nil
}

// EveryMinuteOf tells of a schedule that runs each minute of some hours, as a rule because the
// minutes were left a *: how often in each such hour, and the hours as they are written; 0 for
// every other schedule.
func EveryMinuteOf(text string) (times int, hours string) {
	fields := strings.Fields(text)
	if len(fields) == 6 && strings.Contains(fields[0], "TZ=") {
		fields = fields[1:]
	}
	if len(fields) != 5 || fields[0] != "*" && fields[0] != "*/1" || fields[1] == "*" || fields[1] == "*/1" {
		return 0, ""
	}
	return 60, fields[1]
}

// Parsing of cron expressions.

package clock

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// anyTime is a time from which to check whether a schedule ever comes. Any other would do: the
// library looks five years ahead, which finds a 29 February.
var anyTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// ParseSchedule parses a schedule in the syntax of robfig/cron ("*/10 * * * *", "@every 1h",
// "CRON_TZ=America/Cuiaba 0 3 * * *"). Without a zone of its own it is in the given zone. It
// refuses schedules that the library accepts but never runs, or panics on. Fixed hours come once on
// each day, also on days when the clock is set.
func ParseSchedule(text string, zone *time.Location) (schedule cron.Schedule, err error) {
	defer func() {
		if recover() != nil { // the library slices out of bounds on a zone without a schedule
			schedule, err = nil, fmt.Errorf("%q is not a schedule: write five fields, as in \"*/10 * * * *\"", text)
		}
	}()
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		// the library would round these up to one second
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
	return keepLocalTimes(parsed), nil
}

// EveryMinuteOf reports whether a schedule runs every minute of certain hours, usually because the
// minutes were left at *. It returns how often it runs in each such hour, and the hours as written;
// 0 and "" for any other schedule.
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

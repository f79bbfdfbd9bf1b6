package clock

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

func TestSchedulesThatNeverRunOrRunWildAreRefused(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("BRT", -3*3600)
	for _, text := range []string{
		"", "TZ=America/Sao_Paulo", "0 0 31 2 *", "@every 0s", "@every -1s", "@every 500ms",
		"* * *", "0 0 * * 8", "61 * * * *", "*/90 * * * *", "0 0 1-0 * *", "0 0 * * 7-1", "0 0 * * x", "0 0 L * *",
		"0 0 * * seg-sex", "@reboot", "0 0 0 * * *", "0 0 * * 1/x", "0 0 * * ,", "CRON_TZ=Nowhere/Land 0 3 * * *",
	} {
		if s, err := ParseSchedule(text, zone); err == nil {
			t.Errorf("ParseSchedule(%q) = %v, want an error", text, s)
		}
	}
}

// What is wrong with a schedule is told in our own words.
func TestAWrongFieldOfAScheduleIsNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 0 * * 8":       `the weekday is "8", and must be a number from 0 to 7, or sun, mon, tue …`,
		"0 0 * * seg-sex": `the weekday is "seg", and must be`,
		"61 * * * *":      `the minute is "61", and must be a number from 0 to 59`,
		"*/90 * * * *":    `the step of the minute is "90", and must be a number from 1 to 59`,
		"0 0 L * *":       `the day of the month is "L", and must be a number from 1 to 31`,
		"0 0 * 12-1 *":    "the month 12-1 ends before it begins",
		"@reboot":         "write five fields",
		"0 0 0 * * *":     "it needs 5 fields (minute, hour, day, month, weekday), and has 6",
	} {
		if _, err := ParseSchedule(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Sunday is 0 and 7, in ranges too.
func TestSundayIsTheWeekdaySeven(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) // a Thursday
	for text, want := range map[string]string{
		"0 3 * * 7": "Sun Sun", "0 3 * * 0": "Sun Sun", "0 3 * * 6-7": "Sat Sun Sat",
		"0 3 * * fri-sun": "Fri Sat Sun Fri",
		"0 3 * * 1,7":     "Sun Mon Sun", "0 3 * * 5-7/2": "Fri Sun Fri", "0 3 * * sun": "Sun Sun",
		"0 3 * * MON-FRI": "Fri Mon",
		"0 3 * * 2/2":     "Sat Tue Thu Sat", "0 3 * * 1/2": "Fri Mon Wed", "0 3 * 1-12 *": "Fri Sat",
	} {
		s, err := ParseSchedule(text, time.UTC)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		at := from
		for _, day := range strings.Fields(want) {
			at = s.Next(at)
			if got := at.Format("Mon"); got != day {
				t.Errorf("%q comes on %s, want %s of %s", text, got, day, want)
			}
		}
	}
}

func TestASchedulesHoursAreThoseOfTheZone(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("BRT", -3*3600)
	from := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"0 3 * * *":             "2026-11-21T06:00:00Z",
		"CRON_TZ=UTC 0 3 * * *": "2026-11-21T03:00:00Z", "@every 1h": "2026-11-21T01:00:00Z",
	} {
		s := must.Get(ParseSchedule(text, zone))(t)
		if got := s.Next(from).UTC().Format(time.RFC3339); got != want {
			t.Errorf("%q comes next at %s, want %s", text, got, want)
		}
	}
}

package clock

import (
	"testing"
	"time"
)

func TestSchedulesThatNeverRunOrRunWildAreRefused(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("BRT", -3*3600)
	for _, text := range []string{
		"", "TZ=America/Sao_Paulo", "0 0 31 2 *", "@every 0s", "@every -1s", "@every 500ms",
		"* * *", "0 0 * * 7", "61 * * * *",
	} {
		if s, err := ParseSchedule(text, zone); err == nil {
			t.Errorf("ParseSchedule(%q) = %v, want an error", text, s)
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
		s, err := ParseSchedule(text, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Next(from).UTC().Format(time.RFC3339); got != want {
			t.Errorf("%q comes next at %s, want %s", text, got, want)
		}
	}
}

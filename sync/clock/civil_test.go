package clock

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// F077: on the days on which clocks are set, what names an hour comes once, and what comes every
// hour goes on by elapsed time.
func TestF077NoBusinessDayIsSkippedOrDoubledWhenTheClocksAreSet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, schedule, from string
		want                       []string
	}{
		{
			"midnight does not exist", "America/Sao_Paulo", "0 0 * * *", "2018-11-03T12:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00", "2018-11-06T00:00:00-02:00"},
		},
		{
			"all times of an hour that does not exist are one", "America/Sao_Paulo", "0,20,40 0 * * *",
			"2018-11-03T12:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00", "2018-11-05T00:20:00-02:00"},
		},
		{
			"the last hour of the day comes twice", "America/Sao_Paulo", "30 23 * * *", "2018-02-17T12:00:00-02:00",
			[]string{"2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00", "2018-02-19T23:30:00-03:00"},
		},
		{
			"asked in the repeated hour", "America/Sao_Paulo", "30 23 * * *", "2018-02-17T23:10:00-03:00",
			[]string{"2018-02-18T23:30:00-03:00"},
		},
		{
			"a gap in the night", "America/New_York", "30 2 * * *", "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"},
		},
		{
			"a repeated hour in the night", "America/New_York", "30 1 * * *", "2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
		},
		{
			"every hour goes on by elapsed time", "America/New_York", "0 * * * *", "2026-11-01T00:30:00-04:00",
			[]string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T02:00:00-05:00"},
		},
		{
			"every ten minutes over a gap", "America/Sao_Paulo", "*/10 * * * *", "2018-11-03T23:45:00-03:00",
			[]string{"2018-11-03T23:50:00-03:00", "2018-11-04T01:00:00-02:00", "2018-11-04T01:10:00-02:00"},
		},
		{
			"half an hour, on an island", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"},
		},
		{
			"a zone that left out a day", "Pacific/Apia", "0 12 * * *", "2011-12-29T13:00:00-10:00",
			[]string{"2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"},
		},
		{
			"working days only", "America/Sao_Paulo", "0 0 * * 1-5", "2018-11-02T12:00:00-03:00",
			[]string{"2018-11-05T00:00:00-02:00"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			zone := must.Get(time.LoadLocation(test.zone))(t)
			schedule := must.Get(ParseSchedule(test.schedule, zone))(t)
			at := must.Get(time.Parse(time.RFC3339, test.from))(t)
			var got []string
			for range test.want {
				at = schedule.Next(at)
				got = append(got, at.In(zone).Format(time.RFC3339))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", test.schedule, test.zone, diff)
			}
		})
	}
}

// Over twenty years of the rules of many zones, each day of the calendar has a schedule of one time
// exactly once, in order.
func TestF077EachDayComesOnceInEveryZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"America/Sao_Paulo", "America/Cuiaba", "America/New_York", "Europe/Lisbon",
		"Africa/Cairo", "Asia/Tehran", "America/Noronha",
	} {
		zone := must.Get(time.LoadLocation(name))(t)
		for _, text := range []string{"0 0 * * *", "30 23 * * *", "30 2 * * *", "15 1 * * *"} {
			schedule := must.Get(ParseSchedule(text, zone))(t)
			day := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
			for at := time.Date(2000, 1, 1, 23, 45, 0, 0, zone); day.Year() < 2020; day = day.AddDate(0, 0, 1) {
				at = schedule.Next(at)
				if at.In(zone).Format(time.DateOnly) != day.Format(time.DateOnly) {
					t.Fatalf("%s in %s comes at %s, want once on %s", text, name, at.In(zone),
						day.Format(time.DateOnly))
				}
			}
		}
	}
}

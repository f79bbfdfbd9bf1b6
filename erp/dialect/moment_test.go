package dialect

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

func TestMomentsAreReadAndWrittenAsTheyStand(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{ // in UTC; "": not a time
		"2026-10-18":                            "2026-10-18T00:00:00Z",
		"2026-10-18 10:20":                      "2026-10-18T10:20:00Z",
		"2026-10-18T10:20:30":                   "2026-10-18T10:20:30Z",
		"2026-10-18 10:20:30.302674-03":         "2026-10-18T13:20:30.302674Z",
		"2018-11-04T03:00:00Z":                  "2018-11-04T03:00:00Z",
		"1900-01-01 08:53:32-03:06:28":          "1900-01-01T12:00:00Z",
		"2024-02-29 00:00:00+0530":              "2024-02-28T18:30:00Z",
		"2026-01-01 24:00":                      "2026-01-02T00:00:00Z",
		"2026-01-01 23:59:60":                   "2026-01-01T23:59:59Z",
		"0000-01-01 00:00:00+14:00":             "-0001-12-31T10:00:00Z",
		"2026-01-01 23:59:59.123456789+00":      "2026-01-01T23:59:59.123456789Z",
		"2026-02-30":                            "",
		"1900-02-29":                            "",
		"2026-00-10":                            "",
		"2026-13-01":                            "",
		"infinity":                              "",
		"2026-01-01 10:00:00.":                  "",
		"2026-01-01 10:00:00.1234567890":        "",
		"2026-01-01 10:60":                      "",
		"2026-01-01 25:00":                      "",
		"2026-1-01 10:00":                       "",
		"+026-01-01":                            "",
		"2026-01-01 10:00:00 BC":                "",
		"12026-01-01 10:00:00+00":               "",
		"2026-01-01 10:00:00+3":                 "",
		"2026-01-01 10:00:00-03:60":             "",
		"2026-01-01 10:00:00+03:00:00:00":       "",
		"2026-01-01 10:00:00 America/Sao_Paulo": "",
	} {
		m, ok := ParseMoment(s)
		if ok != (want != "") || ok && m.At.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %s, %v; want %q", s, m.At.Format(time.RFC3339Nano), ok, want)
		}
	}
}

func TestInstantsAreWrittenInTheZoneOfTheERP(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string][3]string{
		"America/Sao_Paulo": {
			"2018-11-04T01:00:00-02:00", "2026-10-18T07:20:30.5-03:00",
			"1899-12-31T20:53:32-03:06:28",
		},
		"Asia/Kolkata": {
			"2018-11-04T08:30:00+05:30", "2026-10-18T15:50:30.5+05:30",
			"1900-01-01T05:21:10+05:21:10",
		},
		"UTC": {"2018-11-04T03:00:00+00:00", "2026-10-18T10:20:30.5+00:00", "1900-01-01T00:00:00+00:00"},
	} {
		loc := must.Get(time.LoadLocation(zone))(t)
		at := [3]time.Time{
			time.Date(2018, 11, 4, 3, 0, 0, 0, time.UTC), // the first hour of summer time there
			time.Date(2026, 10, 18, 10, 20, 30, 500_000_000, time.UTC),
			time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), // before time zones
		}
		for i := range at {
			if got := InstantText(at[i], loc); got != want[i] {
				t.Errorf("%s in %s is %s, want %s", at[i], zone, got, want[i])
			}
		}
	}
}

func FuzzParseMoment(f *testing.F) {
	for _, s := range []string{
		"2026-10-18", "2026-10-18 10:20:30.302674-03", "2018-11-04T03:00:00Z",
		"1900-01-01 08:53:32-03:06:28", "2026-02-30", "infinity", "2026-01-01 24:00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, ok := ParseMoment(s)
		if !ok {
			return
		}
		if again, ok := ParseMoment(m.Like(m.At)); !ok || !again.At.Equal(m.At) {
			t.Fatalf("%q reads as %s, which is written as %q", s, m.At, m.Like(m.At))
		}
	})
}

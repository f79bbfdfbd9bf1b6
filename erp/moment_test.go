package erp

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// slowMoment is parseMoment with the day read by the standard library, which knows the calendar.
func slowMoment(s string) (moment, bool) {
	var m moment
	if len(s) < 10 {
		return m, false
	}
	day, err := time.Parse("2006-01-02", s[:10])
	if err != nil {
		return m, false
	}
	m.at = day
	rest := s[10:]
	if rest == "" {
		return m, true
	}
	if rest[0] != 'T' && rest[0] != ' ' {
		return m, false
	}
	m.sep = rest[:1]
	rest = rest[1:]
	if len(rest) < 5 || rest[2] != ':' {
		return m, false
	}
	hour, ok1 := twoDigits(rest)
	minute, ok2 := twoDigits(rest[3:])
	if !ok1 || !ok2 || hour > 24 || minute > 59 {
		return m, false
	}
	rest = rest[5:]
	var second, nano int
	if len(rest) >= 3 && rest[0] == ':' {
		var ok bool
		if second, ok = twoDigits(rest[1:]); !ok || second > 60 {
			return m, false
		}
		m.secs = true
		rest = rest[3:]
		if len(rest) > 1 && rest[0] == '.' {
			n := 1
			for n < len(rest) && isDigit(rest[n]) {
				n++
			}
			m.digits = n - 1
			if m.digits == 0 || m.digits > 9 {
				return m, false
			}
			f, err := strconv.Atoi((rest[1:n] + "000000000")[:9])
			if err != nil {
				return m, false
			}
			nano = f
			rest = rest[n:]
		}
	}
	m.at = day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(nano))
	if rest == "" {
		return m, true
	}
	offset, ok := parseOffset(rest)
	if !ok {
		return m, false
	}
	m.zoned, m.suffix = true, rest
	m.at = m.at.Add(-time.Duration(offset) * time.Second)
	return m, true
}

// slowInstant is instantText by the standard library's formats.
func slowInstant(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.Format("2006-01-02T15:04:05.999999-07:00:00")
	}
	return t.Format("2006-01-02T15:04:05.999999-07:00")
}

func sameMoment(t *testing.T, s string) {
	t.Helper()
	got, ok := parseMoment(s)
	want, wantOK := slowMoment(s)
	if ok != wantOK || ok && got != want {
		t.Fatalf("%q is %+v, %v; want %+v, %v", s, got, ok, want, wantOK)
	}
}

// Every day of two hundred years, of those that end in 00 and of the first and the last, and the days that the calendar does not have.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	t.Parallel()
	for year := range 10000 {
		if year > 1 && year < 1895 || year > 2105 && year < 9999 {
			if year%100 != 0 {
				continue
			}
		}
		for month := range 14 {
			for day := range 33 {
				sameMoment(t, fmt.Sprintf("%04d-%02d-%02d", year, month, day))
			}
		}
	}
}

// FuzzMoment compares what reads and writes times with the standard library.
func FuzzMoment(f *testing.F) {
	for _, s := range []string{
		"2026-10-18", "2026-10-18 10:20:30.302674-03", "2018-11-04T03:00:00Z", "1900-01-01 08:53:32-03:06:28", "2026-02-30", "2024-02-29 00:00:00", "1900-02-29", "infinity", "2026-01-01 24:00",
		"2026-01-01 23:59:60.999999999+24", "0000-01-01 00:00:00+14:00", "9999-12-31 23:59:59-12", "2026-01-01 10:00:00.", "2026-01-01 10:00:00.1234567890", "2026-1-01 10:00", "+026-01-01", "2026-01-01 10:00:00 BC", "12026-01-01 10:00:00+00",
	} {
		f.Add(s)
	}
	var zones []*time.Location
	for _, name := range []string{"America/Sao_Paulo", "Asia/Kolkata", "UTC", "Africa/Monrovia"} {
		if zone, err := time.LoadLocation(name); err == nil {
			zones = append(zones, zone)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		sameMoment(t, s)
		m, ok := parseMoment(s)
		if !ok {
			return
		}
		for _, zone := range zones {
			for _, at := range []time.Time{m.at, m.at.AddDate(5000, 0, 0), m.at.AddDate(-3000, 0, 0)} {
				if got, want := instantText(at, zone), slowInstant(at, zone); got != want {
					t.Fatalf("%q in %s: %s, want %s", s, zone, got, want)
				}
			}
		}
	})
}

func BenchmarkMoment(b *testing.B) {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		b.Fatal(err)
	}
	const s = "2026-10-18 10:20:30.302674-03"
	m, _ := parseMoment(s)
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			parseMoment(s)
		}
	})
	b.Run("parse slowly", func(b *testing.B) {
		for b.Loop() {
			slowMoment(s)
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			instantText(m.at, zone)
		}
	})
	b.Run("write slowly", func(b *testing.B) {
		for b.Loop() {
			slowInstant(m.at, zone)
		}
	})
}

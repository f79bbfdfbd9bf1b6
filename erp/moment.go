package erp

import (
	"strconv"
	"time"
)

// moment is a date or time read from ISO text, with the shape it had.
type moment struct {
	at     time.Time // without zone: as if it were UTC
	sep    string    // "" date only, "T" or " "
	zoned  bool
	suffix string // the zone as written
	digits int    // digits of the fraction
	secs   bool
}

// parseMoment reads YYYY-MM-DD[T| ]HH:MM[:SS[.f…]][zone], zone = Z, ±HH,
// ±HHMM, ±HH:MM or ±HH:MM:SS: what PostgreSQL writes and what people keep in
// SQLite. It accepts no other calendar ("BC"), no five-digit year, no 'infinity'.
func parseMoment(s string) (moment, bool) {
	var m moment
	if len(s) < 10 {
		return m, false
	}
	day, err := time.Parse(time.DateOnly, s[:10])
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
			if nano, err = strconv.Atoi((rest[1:n] + "00000000")[:9]); err != nil {
				return m, false
			}
			rest = rest[n:]
		}
	}
	m.at = time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, nano, time.UTC)
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

func parseOffset(s string) (seconds int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	unit := 3600
	for rest := s[1:]; rest != ""; unit /= 60 {
		if unit != 3600 && rest[0] == ':' {
			rest = rest[1:]
		}
		n, good := twoDigits(rest)
		if !good || unit == 0 || unit < 3600 && n > 59 || unit == 3600 && n > 24 {
			return 0, false
		}
		seconds += n * unit
		rest = rest[2:]
		s = rest
		if rest == "" {
			break
		}
	}
	return sign * seconds, true
}

func twoDigits(s string) (int, bool) {
	if len(s) < 2 || !isDigit(s[0]) || !isDigit(s[1]) {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

// like writes t in the shape of m.
func (m moment) like(t time.Time) string {
	t = t.UTC()
	if m.sep == "" {
		return t.Format("2006-01-02")
	}
	if m.zoned {
		offset, _ := parseOffset(m.suffix)
		t = t.Add(time.Duration(offset) * time.Second)
	}
	out := t.Format("2006-01-02") + m.sep + t.Format("15:04")
	if m.secs {
		out += t.Format(":05")
		if m.digits > 0 {
			out += "." + t.Format(".000000000")[1:][:m.digits]
		}
	}
	return out + m.suffix
}

// instantText writes an instant in a zone; the first ten characters are the
// local day. Offsets with seconds (before the introduction of time zones) keep them.
func instantText(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.Format("2006-01-02T15:04:05.999999-07:00:00")
	}
	return t.Format("2006-01-02T15:04:05.999999-07:00")
}

package dialect

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Moment is a date or time parsed from ISO text, with the format that the text had.
type Moment struct {
	At     time.Time // without a zone: as if it were UTC
	Sep    string    // "" for a date only, otherwise "T" or " "
	Zoned  bool
	suffix string // the zone as written
	offset time.Duration
	digits int // digits of the fraction
	secs   bool
}

// momentShape matches YYYY-MM-DD[T| ]HH:MM[:SS[.f…]][zone], zone = Z, ±HH, ±HHMM, ±HH:MM or
// ±HH:MM:SS, also after a blank. That is what PostgreSQL writes and what programs store as text. It
// matches no other calendar ("BC"), no five-digit year, no 'infinity'.
var momentShape = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:([T ])(\d\d):([0-5]\d)(?::(\d\d)(?:\.(\d{1,9}))?)?` +
	`( ?[Zz]|( ?[+-])(\d\d)(?::?([0-5]\d)(?::?([0-5]\d))?)?)?)?$`)

// ParseMoment parses a text of such a format whose date exists; 24:00 and a leap second are the
// moment after.
func ParseMoment(s string) (Moment, bool) {
	part := momentShape.FindStringSubmatch(s)
	if part == nil {
		return Moment{}, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(part[i]) // digits, or nothing
		return n
	}
	day, err := time.Parse(time.DateOnly, part[1])
	if err != nil || number(3) > 24 || number(5) > 60 || number(9) > 24 {
		return Moment{}, false
	}
	m := Moment{
		Sep: part[2], secs: part[5] != "", digits: len(part[6]), Zoned: part[7] != "", suffix: part[7],
		offset: time.Duration(number(9)*3600+number(10)*60+number(11)) * time.Second,
	}
	if strings.TrimSpace(part[8]) == "-" {
		m.offset = -m.offset
	}
	nano, _ := strconv.Atoi((part[6] + "000000000")[:9])
	m.At = time.Date(day.Year(), day.Month(), day.Day(), number(3), number(4), number(5), nano, time.UTC).Add(-m.offset)
	return m, true
}

// Wall returns the local time as written, as if it were UTC.
func (m Moment) Wall() time.Time { return m.At.Add(m.offset) }

// Like formats t in the format of m.
func (m Moment) Like(t time.Time) string {
	t = t.UTC().Add(m.offset)
	if m.Sep == "" {
		return t.Format("2006-01-02")
	}
	out := t.Format("2006-01-02") + m.Sep + t.Format("15:04")
	if m.secs {
		out += t.Format(":05")
		if m.digits > 0 {
			out += "." + t.Format(".000000000")[1:][:m.digits]
		}
	}
	return out + m.suffix
}

// InstantText formats an instant in a zone; the first ten characters are the local day. Offsets
// with seconds (before the introduction of time zones) keep them.
func InstantText(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.Format("2006-01-02T15:04:05.999999-07:00:00")
	}
	return t.Format("2006-01-02T15:04:05.999999-07:00")
}

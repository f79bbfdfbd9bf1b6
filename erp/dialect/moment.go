package dialect

import (
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

// ParseMoment parses a text YYYY-MM-DD[T| ]HH:MM[:SS[.f…]][zone] whose date exists, zone = Z, ±HH,
// ±HHMM, ±HH:MM or ±HH:MM:SS, also after a blank. That is what PostgreSQL writes and what programs
// store as text. It takes no other calendar ("BC"), no five-digit year, no 'infinity'. 24:00 is the
// moment after, a leap second the second before, which is of the same day.
func ParseMoment(s string) (Moment, bool) {
	c := cutter{rest: s}
	year := c.number(4, 9999)
	c.must("-")
	month := c.number(2, 12)
	c.must("-")
	day := c.number(2, 31)
	m := Moment{At: time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)}
	if c.bad || int(m.At.Month()) != month || m.At.Day() != day { // there is no such day
		return Moment{}, false
	}
	if c.rest == "" {
		return m, true
	}
	m.Sep = c.must("T ")
	at := time.Duration(c.number(2, 24)) * time.Hour
	c.must(":")
	at += time.Duration(c.number(2, 59)) * time.Minute
	m.secs = c.one(":") != ""
	if m.secs {
		at += time.Duration(min(59, c.number(2, 60))) * time.Second
		if c.one(".") != "" {
			m.digits = max(1, min(9, len(c.rest)-len(strings.TrimLeft(c.rest, "0123456789"))))
			fraction := c.number(m.digits, 999999999)
			for range 9 - m.digits {
				fraction *= 10
			}
			at += time.Duration(fraction)
		}
	}
	m.suffix, m.Zoned = c.rest, c.rest != ""
	if m.Zoned {
		m.offset = c.zone()
	}
	m.At = m.At.Add(at - m.offset)
	return m, !c.bad && c.rest == ""
}

// cutter cuts a text into parts from its beginning. It is bad if a part was not there.
type cutter struct {
	rest string
	bad  bool
}

// number cuts a number of so many digits.
func (c *cutter) number(digits, most int) int {
	n := 0
	for range digits {
		if c.rest == "" || c.rest[0] < '0' || c.rest[0] > '9' {
			c.bad = true
			return 0
		}
		n, c.rest = n*10+int(c.rest[0]-'0'), c.rest[1:]
	}
	c.bad = c.bad || n > most
	return n
}

// one cuts one of some characters; "" if none of them comes next.
func (c *cutter) one(of string) (cut string) {
	if c.rest != "" && strings.IndexByte(of, c.rest[0]) >= 0 {
		cut, c.rest = c.rest[:1], c.rest[1:]
	}
	return cut
}

// must is one, and it is bad if none comes next.
func (c *cutter) must(of string) (cut string) {
	cut = c.one(of)
	c.bad = c.bad || cut == ""
	return cut
}

// zone cuts the zone of a time.
func (c *cutter) zone() (offset time.Duration) {
	c.one(" ")
	if c.one("Zz") != "" {
		return 0
	}
	sign := c.must("+-")
	offset = time.Duration(c.number(2, 24)) * time.Hour
	for _, unit := range []time.Duration{time.Minute, time.Second} {
		if c.rest != "" {
			c.one(":")
			offset += time.Duration(c.number(2, 59)) * unit
		}
	}
	if sign == "-" {
		return -offset
	}
	return offset
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

package dialect

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
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

// ISOMicro is the layout of a timestamp without zone that all these databases accept.
const ISOMicro = "2006-01-02 15:04:05.000000"

// Epoch formats an instant as seconds since 1970 with microseconds.
func Epoch(t time.Time) string {
	micro := t.UnixMicro()
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return sign + strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// ParseEpoch parses what Epoch writes, also with fewer digits.
func ParseEpoch(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	nano, err2 := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil || err2 != nil {
		return time.Time{}, false
	}
	if strings.HasPrefix(s, "-") {
		sec, nano = -sec, -nano
	}
	return time.Unix(sec, nano).UTC(), true
}

// PlainNumber reports whether a text is an ordinary decimal, so that a database can compare it with
// a number.
func PlainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := strings.Replace(s, ".", "", 1)
	return digits != "" && len(digits) <= 38 && strings.Trim(digits, "0123456789") == ""
}

// NoDateBefore is a day. An earlier date is how programs write "none": 1899-12-30 (Delphi),
// 1900-01-01 and 1900-12-31.
const NoDateBefore = "1901-01-02"

// ZeroDate is a date that programs write for "none".
const ZeroDate = "0000-00-00"

// Clock is the present time of the database, read before the snapshot of the rows. A transaction
// that starts after it cannot stamp an older time, and one that was open then is in the horizon, if
// it is visible.
type Clock struct {
	Now time.Time
	// Limits returns the values to which a bound is limited, by the type of the column: now() and,
	// if visible, the start of the oldest open transaction.
	Limits func(col Column, sample Moment) []Limit
}

// Limit is the latest time for the bound.
type Limit struct {
	Text string
	At   time.Time
	// WarnAfter is the time after which a value counts as being in the future. Zero: this limit
	// does not cause a warning.
	WarnAfter time.Time
}

// ReadClock reads a clock in UTC with a query that returns it as text.
func ReadClock(ctx context.Context, c *sqlx.Conn, query string, zone *time.Location) (Clock, error) {
	var text string
	if err := c.GetContext(ctx, &text, query); err != nil {
		return Clock{}, err
	}
	m, ok := ParseMoment(text)
	if !ok {
		return Clock{}, fault.Failf(fault.CodeOther, "the ERP database's clock cannot be read")
	}
	return Clock{Now: m.At, Limits: NaiveLimits(m.At, time.Time{}, zone)}, nil
}

// NaiveLimits returns the limits for columns whose times may have no zone. Such a time may be UTC
// or local, so the bound uses the earlier interpretation and the warning the later one. horizon is
// the start of the oldest open transaction; zero: not known.
func NaiveLimits(now, horizon time.Time, zone *time.Location) func(Column, Moment) []Limit {
	return func(_ Column, sample Moment) []Limit {
		l := naiveLimit(now, zone, sample)
		if horizon.IsZero() {
			return []Limit{l}
		}
		h := naiveLimit(horizon, zone, sample)
		h.WarnAfter = time.Time{}
		return []Limit{l, h}
	}
}

func naiveLimit(at time.Time, zone *time.Location, sample Moment) Limit {
	if sample.Zoned {
		return Limit{Text: sample.Like(at), At: at, WarnAfter: at}
	}
	_, offset := at.In(zone).Zone()
	early, late := at, at.Add(time.Duration(offset)*time.Second)
	if late.Before(early) {
		early, late = late, early
	}
	l := Limit{Text: sample.Like(early), At: early, WarnAfter: late}
	if sample.Sep == "" {
		l.At = early.Truncate(24 * time.Hour)
	}
	return l
}

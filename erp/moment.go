package erp

import "time"

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
	year, month, day, ok := fixedDay(s)
	if !ok {
		return m, false
	}
	rest := s[10:]
	if rest == "" {
		m.at = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
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
			for i := 1; i <= 9; i++ {
				nano *= 10
				if i < n {
					nano += int(rest[i] - '0')
				}
			}
			rest = rest[n:]
		}
	}
	m.at = time.Date(year, month, day, hour, minute, second, nano, time.UTC)
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

// fixedDay reads the YYYY-MM-DD that a text of at least ten bytes begins with.
func fixedDay[S string | []byte](s S) (year int, month time.Month, day int, ok bool) {
	century, ok1 := digitsAt(s, 0)
	years, ok2 := digitsAt(s, 2)
	months, ok3 := digitsAt(s, 5)
	day, ok4 := digitsAt(s, 8)
	year, month = century*100+years, time.Month(months)
	ok = ok1 && ok2 && ok3 && ok4 && s[4] == '-' && s[7] == '-' && months >= 1 && months <= 12 && day >= 1 && day <= daysOf(year, month)
	return year, month, day, ok
}

// digitsAt reads two digits.
func digitsAt[S string | []byte](s S, at int) (int, bool) {
	a, b := s[at]-'0', s[at+1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

func daysOf(year int, month time.Month) int {
	switch month {
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	default:
		return 31
	}
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

// fixedMoment reads YYYY-MM-DD HH:MM:SS[.ffffff][±HH[:MM]], which is what PostgreSQL
// writes of nearly every time. Whatever else there is, [parseMoment] reads.
func fixedMoment(b []byte) (at time.Time, zoned, ok bool) {
	if len(b) < 19 || b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return at, false, false
	}
	year, month, day, ok1 := fixedDay(b)
	hour, ok2 := digitsAt(b, 11)
	minute, ok3 := digitsAt(b, 14)
	second, ok4 := digitsAt(b, 17)
	if !ok1 || !ok2 || !ok3 || !ok4 || hour > 23 || minute > 59 || second > 59 {
		return at, false, false
	}
	nano, rest := 0, b[19:]
	if len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		n, unit := 1, 100_000_000
		for ; n < len(rest) && n <= 6 && isDigit(rest[n]); n++ {
			nano += int(rest[n]-'0') * unit
			unit /= 10
		}
		rest = rest[n:]
	}
	if zoned = len(rest) > 0; zoned {
		if len(rest) < 3 || rest[0] != '+' && rest[0] != '-' || len(rest) != 3 && (len(rest) != 6 || rest[3] != ':') {
			return at, false, false
		}
		offset, ok5 := digitsAt(rest, 1)
		offset *= 3600
		ok6 := true
		if len(rest) == 6 {
			var more int
			more, ok6 = digitsAt(rest, 4)
			ok6 = ok6 && more <= 59
			offset += more * 60
		}
		if !ok5 || !ok6 || offset >= 24*3600 {
			return at, false, false
		}
		if rest[0] == '-' {
			offset = -offset
		}
		second -= offset
	}
	return time.Date(year, month, day, hour, minute, second, nano, time.UTC), zoned, true
}

// instantText writes an instant in a zone; the first ten characters are the
// local day. Offsets with seconds (before the introduction of time zones) keep them.
func instantText(t time.Time, zone *time.Location) string {
	var b [40]byte
	return string(appendInstant(b[:0], t, zone))
}

func appendInstant(b []byte, t time.Time, zone *time.Location) []byte {
	t = t.In(zone)
	_, offset := t.Zone()
	year, month, day := t.Date()
	if offset%60 != 0 {
		return t.AppendFormat(b, "2006-01-02T15:04:05.999999-07:00:00")
	}
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, "2006-01-02T15:04:05.999999-07:00")
	}
	// What the format would write, in a fifth of its time: there is one of these in most rows.
	hour, minute, second := t.Clock()
	b = append(append2(append2(b, year/100), year%100), '-')
	b = append(append2(b, int(month)), '-')
	b = append(append2(b, day), 'T')
	b = append(append2(b, hour), ':')
	b = append(append2(b, minute), ':')
	b = append2(b, second)
	if micro := t.Nanosecond() / 1000; micro > 0 {
		b = append(b, '.')
		b = append2(append2(append2(b, micro/10000), micro/100%100), micro%100)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	b = append(b, sign)
	b = append(append2(b, offset/3600), ':')
	return append2(b, offset/60%60)
}

// append2 writes a number below 100 in two digits.
func append2(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

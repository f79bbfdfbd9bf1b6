package erp

import (
	"strconv"
	"strings"
	"time"
)

// keyCondition is "is one of these keys", each part compared by term.
func keyCondition(cols []Column, keys [][]Value, term func(Column, Value) (string, *Error)) (string, *Error) {
	alternatives := make([]string, 0, len(keys))
	for _, key := range keys {
		all := make([]string, len(key))
		for i, v := range key {
			var bad *Error
			if all[i], bad = term(cols[i], v); bad != nil {
				return "", bad
			}
		}
		alternatives = append(alternatives, "("+strings.Join(all, " AND ")+")")
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", nil
}

func notBindable(col Column) *Error {
	return failf(CodeOther, "a stored value of key column %s cannot be bound again", col.Name)
}

func failBound(since string) *Error {
	return failf(CodeOther, "the saved bound %q is no date or time; run a sweep", since)
}

// windowStart is where a window begins, in UTC digits; a column of days gets
// at least two.
func windowStart(w Window, days bool) (time.Time, *Error) {
	m, ok := parseMoment(w.Since)
	if !ok {
		return time.Time{}, failBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	if days {
		lookback = max(lookback, 48*time.Hour)
	}
	return m.at.Add(-lookback), nil
}

// isoMicro is a timestamp without zone as all these databases take it.
const isoMicro = "2006-01-02 15:04:05.000000"

// epoch writes an instant as seconds since 1970 with microseconds.
func epoch(t time.Time) string {
	micro := t.UnixMicro()
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return sign + strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// parseEpoch reads what epoch writes, and databases with fewer digits.
func parseEpoch(s string) (time.Time, bool) {
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

// plainNumber tells whether a text is an ordinary decimal, so that a database
// may be asked to compare it with a number.
func plainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := strings.Replace(s, ".", "", 1)
	return digits != "" && len(digits) <= 38 && strings.Trim(digits, "0123456789") == ""
}

// noDateBefore: what lies before it is a program's way to write "none", as
// 1899-12-30 (Delphi), 1900-01-01 and 1900-12-31.
const noDateBefore = "1901-01-02"

// zeroDate is a date that a program wrote for "none".
const zeroDate = "0000-00-00"

// timestampText brings "2026-08-10 23:59:59.302674" into the form of a
// Timestamp: a T between, and no fraction where it is zero.
func timestampText(s string) Value {
	m, ok := parseMoment(s)
	if !ok || m.sep == "" || m.zoned {
		return Value{Kind: Timestamp, Text: s, Err: oddTime("timestamp", s)}
	}
	text := s[:10] + "T" + s[11:]
	if m.digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return Value{Kind: Timestamp, Text: text}
}

// utcInstant reads a timestamp in UTC.
func utcInstant(s string, zone *time.Location) Value {
	m, ok := parseMoment(s)
	if !ok || m.sep == "" {
		return Value{Kind: Instant, Text: s, Err: oddTime("timestamp", s)}
	}
	return Value{Kind: Instant, Text: instantText(m.at, zone)}
}

func boolValue(v any) Value {
	if v == true {
		return Value{Kind: Bool, Text: "true"}
	}
	return Value{Kind: Bool, Text: "false"}
}

func plainTextValue(s string) Value { return textValue(s, charset{}) }

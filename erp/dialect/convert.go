package dialect

import (
	"strconv"
	"strings"
	"time"
)

// AsText brings what a driver hands over for an exact type to text.
func AsText(convert func(string) Value) func(any) Value {
	return func(v any) Value {
		switch x := v.(type) {
		case string:
			return convert(x)
		case []byte:
			return convert(string(x))
		case int64:
			return convert(strconv.FormatInt(x, 10))
		case uint64:
			return convert(strconv.FormatUint(x, 10))
		case time.Time:
			return convert(x.Format(ISOMicro))
		default:
			return Value{Kind: Text, Err: "a type the driver does not explain"}
		}
	}
}

// Keep is text that is kept as it comes.
func Keep(kind Kind) func(any) Value {
	return AsText(func(s string) Value { return Value{Kind: kind, Text: s} })
}

// BoundText is the stored text of a time; utc tells that it is one in UTC.
func BoundText(utc bool) func(any) Value {
	return AsText(func(s string) Value {
		if utc {
			s += "+00:00"
		}
		return Value{Kind: Text, Text: s}
	})
}

// BinaryColumn is for a column whose content is not wanted: old ERPs keep megabytes of notes in
// them. example shows how a query makes text of it.
func BinaryColumn(example string) func(any) Value {
	return func(any) Value {
		return Value{Kind: Bytes, Err: "binary column; convert it in the query, e.g. " + example}
	}
}

// NumberValue reads an exact decimal.
func NumberValue(s string) Value {
	v := Value{Kind: Number, Text: s}
	switch s {
	case "NaN":
		v.Err = "not a number (NaN)"
	case "Infinity", "-Infinity":
		v.Err = "infinite number"
	}
	return v
}

// DateText reads a day.
func DateText(s string) Value {
	v := Value{Kind: Date, Text: s}
	if len(s) == 10 {
		if _, ok := ParseMoment(s); ok {
			return v
		}
	}
	v.Err = OddTime("date", s)
	return v
}

// OddTime says what is wrong with a date that no calendar of ours can hold.
func OddTime(what, s string) string {
	switch {
	case s == "infinity" || s == "-infinity":
		return what + " " + s
	case strings.HasSuffix(s, " BC"):
		return what + " before Christ"
	case FarFuture(s):
		return what + " after the year 9999"
	default:
		return "unreadable " + what
	}
}

// FarFuture tells a year of more than four digits.
func FarFuture(s string) bool {
	year, _, ok := strings.Cut(s, "-")
	return ok && len(year) > 4 && strings.Trim(year, "0123456789") == "" && !strings.HasSuffix(s, " BC")
}

// TimestampText brings "2026-08-10 23:59:59.302674" into the form of a
// Timestamp: a T between, and no fraction where it is zero.
func TimestampText(s string) Value {
	m, ok := ParseMoment(s)
	if !ok || m.Sep == "" || m.Zoned {
		return Value{Kind: Timestamp, Text: s, Err: OddTime("timestamp", s)}
	}
	text := s[:10] + "T" + s[11:]
	if m.digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return Value{Kind: Timestamp, Text: text}
}

// UTCInstant reads a timestamp in UTC.
func UTCInstant(s string, zone *time.Location) Value {
	m, ok := ParseMoment(s)
	if !ok || m.Sep == "" {
		return Value{Kind: Instant, Text: s, Err: OddTime("timestamp", s)}
	}
	return Value{Kind: Instant, Text: InstantText(m.At, zone)}
}

// BoolValue reads what a driver gives for a boolean.
func BoolValue(v any) Value {
	if v == true {
		return Value{Kind: Bool, Text: "true"}
	}
	return Value{Kind: Bool, Text: "false"}
}

// PlainTextValue reads a text that the database has converted to UTF-8.
func PlainTextValue(s string) Value { return TextValue(s, Charset{}) }

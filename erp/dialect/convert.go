package dialect

import (
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// asText returns a conversion for an exact type: it formats the driver's value as text and passes
// that to convert.
func asText(convert func(string) Value) func(any) Value {
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
			return Value{Kind: Text, Err: phrase.Pack("a type the driver does not explain")}
		}
	}
}

// BoundText returns a conversion to the stored text of a time. utc states that the time is in UTC.
func BoundText(utc bool) func(any) Value {
	return asText(func(s string) Value {
		if utc {
			s += "+00:00"
		}
		return Value{Kind: Text, Text: s}
	})
}

// BinaryColumn returns the conversion of a column whose content is not wanted; see [BinaryItem].
func BinaryColumn(example string) func(any) Value {
	v := Value{Kind: Bytes, Err: phrase.Pack("binary column; convert it in the query, e.g. %s", example)}
	return func(any) Value { return v }
}

// NumberValue parses an exact decimal.
func NumberValue(s string) Value {
	v := Value{Kind: Number, Text: s}
	switch s {
	case "NaN":
		v.Err = phrase.Pack("not a number (NaN)")
	case "Infinity", "-Infinity":
		v.Err = phrase.Pack("infinite number")
	}
	return v
}

// DateText parses a day.
func DateText(s string) Value {
	v := Value{Kind: Date, Text: s}
	if len(s) == 10 {
		if _, ok := ParseMoment(s); ok {
			return v
		}
	}
	v.Err = OddTime(s)
	return v
}

// OddTime returns what is wrong with a date that our calendar cannot hold.
func OddTime(s string) phrase.Packed {
	switch {
	case s == "infinity" || s == "-infinity":
		return phrase.Pack("infinite date")
	case strings.HasSuffix(s, " BC"):
		return phrase.Pack("date before Christ")
	case FarFuture(s):
		return phrase.Pack("date after the year 9999")
	default:
		return phrase.Pack("unreadable date")
	}
}

// FarFuture reports whether a year has more than four digits.
func FarFuture(s string) bool {
	year, _, ok := strings.Cut(s, "-")
	return ok && len(year) > 4 && strings.Trim(year, "0123456789") == "" && !strings.HasSuffix(s, " BC")
}

// TimestampText converts "2026-08-10 23:59:59.302674" to the form of a Timestamp: with a T in
// between, and without trailing zeros of the fraction.
func TimestampText(s string) Value {
	m, ok := ParseMoment(s)
	if !ok || m.Sep == "" || m.Zoned {
		return Value{Kind: Timestamp, Text: s, Err: OddTime(s)}
	}
	text := s[:10] + "T" + s[11:]
	if m.digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return Value{Kind: Timestamp, Text: text}
}

// UTCInstant converts a timestamp in UTC to an instant in a zone.
func UTCInstant(s string, zone *time.Location) Value {
	m, ok := ParseMoment(s)
	if !ok || m.Sep == "" {
		return Value{Kind: Instant, Text: s, Err: OddTime(s)}
	}
	return Value{Kind: Instant, Text: InstantText(m.At, zone)}
}

// BoolValue converts the driver's value of a boolean.
func BoolValue(v any) Value {
	if v == true {
		return Value{Kind: Bool, Text: "true"}
	}
	return Value{Kind: Bool, Text: "false"}
}

// PlainTextValue returns a text that the database has converted to UTF-8.
func PlainTextValue(s string) Value { return TextValue(s, Charset{}) }

package erp

import (
	"strconv"
	"strings"
	"time"
)

// asText brings what a driver hands over for an exact type to text.
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
			return convert(x.Format(isoMicro))
		default:
			return Value{Kind: Text, Err: "a type the driver does not explain"}
		}
	}
}

// keep is text that is kept as it comes.
func keep(kind Kind) func(any) Value {
	return asText(func(s string) Value { return Value{Kind: kind, Text: s} })
}

// boundText is the stored text of a time; utc tells that it is one in UTC.
func boundText(utc bool) func(any) Value {
	return asText(func(s string) Value {
		if utc {
			s += "+00:00"
		}
		return Value{Kind: Text, Text: s}
	})
}

// binaryColumn is for a column whose content is not wanted: old ERPs keep megabytes of notes in
// them. example shows how a query makes text of it.
func binaryColumn(example string) func(any) Value {
	return func(any) Value {
		return Value{Kind: Bytes, Err: "binary column; convert it in the query, e.g. " + example}
	}
}

func numberValue(s string) Value {
	v := Value{Kind: Number, Text: s}
	switch s {
	case "NaN":
		v.Err = "not a number (NaN)"
	case "Infinity", "-Infinity":
		v.Err = "infinite number"
	}
	return v
}

func dateText(s string) Value {
	v := Value{Kind: Date, Text: s}
	if len(s) == 10 {
		if _, ok := parseMoment(s); ok {
			return v
		}
	}
	v.Err = oddTime("date", s)
	return v
}

// oddTime says what is wrong with a date that no calendar of ours can hold.
func oddTime(what, s string) string {
	switch {
	case s == "infinity" || s == "-infinity":
		return what + " " + s
	case strings.HasSuffix(s, " BC"):
		return what + " before Christ"
	case farFuture(s):
		return what + " after the year 9999"
	default:
		return "unreadable " + what
	}
}

func farFuture(s string) bool {
	year, _, ok := strings.Cut(s, "-")
	return ok && len(year) > 4 && strings.Trim(year, "0123456789") == "" && !strings.HasSuffix(s, " BC")
}

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

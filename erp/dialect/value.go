package dialect

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Kind is the kind of a value in the database.
type Kind uint8

// The kinds of a [Value], with the form of its text.
const (
	// Null is SQL NULL; the text is empty.
	Null Kind = iota
	// Text is a character string, with its padding.
	Text
	// Int is an integer: digits with an optional minus sign.
	Int
	// Number is an exact decimal as the database writes it, with its scale.
	Number
	// Float is a binary float as the shortest text that parses to the same value, without exponent.
	Float
	// Date is YYYY-MM-DD, as stored: it has not passed through a time zone.
	Date
	// Timestamp has no zone: YYYY-MM-DDTHH:MM:SS[.ffffff] (SQLite: as stored).
	Timestamp
	// Instant has a zone: YYYY-MM-DDTHH:MM:SS[.ffffff]±HH:MM in SourceOptions.TimeZone,
	// so that its first ten characters are the local calendar day.
	Instant
	// Bool is "true" or "false".
	Bool
	// Bytes is binary data; its content is not read and Err is always set.
	Bytes
)

// Value is one value as read from the ERP.
type Value struct {
	Kind Kind
	// Text is the exact text; its form depends on the kind. For the same stored value it is always
	// the same, so it may be hashed and bound again as a key.
	Text string
	// Err states why the value cannot be used, e.g. "bytes not valid UTF-8 at 3" or "infinite
	// date"; it is empty if it can. It never quotes the value.
	Err phrase.Packed
}

// Trimmed returns the text without blanks on both sides. CHAR columns arrive padded; trimming is
// left to the mapping, because a key is bound untrimmed.
func (v Value) Trimmed() string { return strings.TrimSpace(v.Text) }

// Day returns the calendar day of a value, by one rule for all engines: a date is ten characters,
// YYYY-MM-DD; a time without a zone is local; an instant, also in a text, is a local time in the
// zone. Any other text is no day, also one that begins with a date.
func (v Value) Day(zone *time.Location) (day time.Time, ok bool) {
	m, ok := v.moment()
	if !ok {
		return time.Time{}, false
	}
	if m.Zoned {
		return m.At.In(zone), true
	}
	return m.At, true
}

// Midnight reports whether a value is the beginning of a day as it is written, in whatever zone,
// and returns that day.
func (v Value) Midnight() (day time.Time, ok bool) {
	m, ok := v.moment()
	day = m.Wall()
	return day, ok && day.Equal(day.Truncate(24*time.Hour))
}

func (v Value) moment() (Moment, bool) {
	switch v.Kind {
	case Text, Date, Timestamp, Instant:
		return ParseMoment(v.Trimmed())
	}
	return Moment{}, false
}

// NullText is shown to people for SQL NULL.
const NullText = "NULL"

// IsNull reports whether the value is SQL NULL.
func (v Value) IsNull() bool { return v.Kind == Null }

// Usable reports whether the value can be a part of a key: not NULL, and readable.
func (v Value) Usable() bool { return v.Kind != Null && v.Err == "" }

// The bytes of one value and of one row that are kept: nothing that can be sent is longer, and a
// scanned document must not fill the memory.
const (
	maxTextBytes = 1 << 20
	maxRowBytes  = 4 << 20
)

var (
	longText = Value{Kind: Text, Err: phrase.Pack("text longer than 1 MiB")}
	longRow  = Value{Kind: Text, Err: phrase.Pack("row longer than 4 MiB up to this column")}
)

// LongestText is the most characters of a value that a dialect asks the database for, as SQL has it:
// one more than is kept, so that a cut value is no shorter one.
const LongestText = "1048577"

// TextValue returns a Text value for the bytes that the database stores.
func TextValue(raw string, cs Charset) Value {
	if len(raw) > maxTextBytes {
		return longText
	}
	text, bad := cs.decode(raw)
	return Value{Kind: Text, Text: text, Err: bad}
}

// This file is the only one that uses binary floats. Some ERPs store amounts in them. The shortest
// text that parses to the same float is what a person typed, and from that text on the amount is a
// decimal (I6).

// floatText converts the database's text of a float to a text without exponent.
func floatText(s string, bits int) Value {
	f, err := strconv.ParseFloat(s, bits) //nolint:forbidigo // the column itself is a binary float
	if err != nil && !math.IsInf(f, 0) {
		return Value{Kind: Float, Err: phrase.Pack("unreadable number")}
	}
	return FloatValue(f, bits)
}

// FloatValue returns the shortest text that parses to the same float.
func FloatValue(f float64, bits int) Value { //nolint:forbidigo // the column itself is a binary float
	v := Value{Kind: Float, Text: strconv.FormatFloat(f, 'f', -1, bits)}
	switch {
	case math.IsNaN(f):
		v.Err = phrase.Pack("not a number (NaN)")
	case math.IsInf(f, 0):
		v.Err = phrase.Pack("infinite number")
	case f == 0:
		v.Text = "0" // not "-0"
	}
	return v
}

// FloatBack returns the argument to compare with a stored float.
func FloatBack(text string, bits int) (any, bool) {
	f, err := strconv.ParseFloat(text, bits) //nolint:forbidigo // a key stored as a binary float
	return f, err == nil
}

// FloatItem returns an expression that is a binary float.
func FloatItem(sql string, bits int) Item {
	return Item{SQL: sql, Convert: func(v any) Value {
		switch x := v.(type) {
		case float64: //nolint:forbidigo // the driver's type
			return FloatValue(x, bits)
		case float32: //nolint:forbidigo // the driver's type
			return FloatValue(float64(x), bits) //nolint:forbidigo // the same value
		case []byte:
			return floatText(string(x), bits)
		case string:
			return floatText(x, bits)
		case int64:
			return Value{Kind: Float, Text: strconv.FormatInt(x, 10)}
		}
		return Value{Kind: Float, Err: phrase.Pack("unreadable number")}
	}}
}

// FloatBits returns the width of a column of binary floats; single is the name of the 32-bit type.
func FloatBits(col Column, single string) int {
	if col.Type == single {
		return 32
	}
	return 64
}

package dialect

import "strings"

// Kind says what a value is in the database.
type Kind uint8

// The kinds of a [Value], with the form of its text.
const (
	// Null is SQL NULL; the text is empty.
	Null Kind = iota
	// Text is a character string, with its padding.
	Text
	// Int is an integer: digits with an optional minus sign.
	Int
	// Number is an exact decimal as the database writes it, its scale kept.
	Number
	// Float is a binary float in the shortest text that reads back the same, without exponent.
	Float
	// Date is YYYY-MM-DD, as stored: it never passed through a time zone.
	Date
	// Timestamp has no zone: YYYY-MM-DDTHH:MM:SS[.ffffff] (SQLite: as stored).
	Timestamp
	// Instant has a zone: YYYY-MM-DDTHH:MM:SS[.ffffff]±HH:MM in Options.TimeZone,
	// so that its first ten characters are the local calendar day.
	Instant
	// Bool is "true" or "false".
	Bool
	// Bytes is binary data; its content is not read and Err is always set.
	Bytes
)

var kindNames = [...]string{"null", "text", "int", "number", "float", "date", "timestamp", "instant", "bool", "bytes"}

// String returns the lower-case name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Value is one value as read from the ERP.
type Value struct {
	Kind Kind
	// Text is the exact text, see the kinds. For the same stored value it is
	// always the same, so it may be hashed and bound again as a key.
	Text string
	// Err says why the value cannot be used, e.g. "bytes not valid UTF-8 at 3"
	// or "date infinity"; empty when it can. It never quotes the value.
	Err string
}

// Trimmed is the text without blanks on both sides. CHAR columns arrive
// padded; trimming is left to the mapping, because a key is bound untrimmed.
func (v Value) Trimmed() string { return strings.TrimSpace(v.Text) }

// NullText stands for SQL NULL where people read it.
const NullText = "NULL"

// IsNull reports SQL NULL.
func (v Value) IsNull() bool { return v.Kind == Null }

// Usable reports whether the value can be a part of a key: not NULL, readable.
func (v Value) Usable() bool { return v.Kind != Null && v.Err == "" }

// maxTextBytes bounds what is kept of one value: nothing that can be sent is
// longer, and a 10 MB text in a forgotten column must not fill the memory.
const maxTextBytes = 1 << 20

// TextValue makes a Text from the bytes the database holds.
func TextValue(raw string, cs Charset) Value {
	if len(raw) > maxTextBytes {
		return Value{Kind: Text, Err: "text longer than 1 MiB"}
	}
	text, errText := cs.decode(raw)
	return Value{Kind: Text, Text: text, Err: errText}
}

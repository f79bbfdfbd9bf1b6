package dialect

import (
	"math"
	"strconv"

	"github.com/safrasync/safrasync/internal/phrase"
)

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

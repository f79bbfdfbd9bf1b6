package trade

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Marked is the letter of a cell of which only a mark is kept: the retention has taken the value away.
const Marked = '#'

// markSize is the length of a mark in bytes: enough to notice nearly every change of a value (one in 65,536 passes), and little enough that many values have the
// same, so that nobody reads a price from it.
const markSize = 2

// Mark gives what is kept of a cell when its value is no longer kept: the marks of two values differ where the values do, upper and lower case, blanks around them
// and zeros after the point aside. It counts for one column of one row, named by its key. NULL, and what is a mark already, stays.
func Mark(key, column string, c Cell) Cell {
	if c.Kind == 0 || c.Kind == Marked {
		return c
	}
	text := strings.ToLower(strings.TrimSpace(c.Text))
	if n, err := ParseDecimal(text); err == nil {
		text = n.String()
	}
	h := sha256.New()
	for _, part := range []string{key, column, text} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return Cell{Kind: Marked, Text: hex.EncodeToString(h.Sum(nil)[:markSize])}
}

// Marks gives the marks of all values of a row.
func (v Values) Marks(key string) Values {
	if len(v) == 0 {
		return v
	}
	out := make(Values, len(v))
	for column, c := range v {
		out[column] = Mark(key, column, c)
	}
	return out
}

// Marked tells whether only marks are kept of the values, or nothing.
func (v Values) Marked() bool {
	for _, c := range v {
		if c.Kind != 0 && c.Kind != Marked {
			return false
		}
	}
	return true
}

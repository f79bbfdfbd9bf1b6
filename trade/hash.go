package trade

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Hash identifies a text: the first 16 bytes of its SHA-256, in hexadecimal. "" = none. The ledger
// stores the bytes.
type Hash string

// HashOf returns the hash of a text.
func HashOf[T ~string | ~[]byte](text T) Hash {
	sum := sha256.Sum256([]byte(text))
	return Hash(hex.EncodeToString(sum[:16]))
}

// PayloadHash returns the hash of what a request sends: its body, and the id in its path; "" if
// there is no body.
func PayloadHash(target string, payload []byte) Hash {
	switch {
	case payload == nil:
		return ""
	case target == "":
		return HashOf(payload)
	}
	return HashOf(strconv.Itoa(len(target)) + ":" + target + string(payload))
}

// Value implements [driver.Valuer].
func (h Hash) Value() (driver.Value, error) {
	bytes, err := hex.DecodeString(string(h))
	if err != nil {
		return nil, phrase.Errorf("the hash %q is not hexadecimal", string(h))
	}
	return bytes, nil
}

// Scan implements [database/sql.Scanner].
func (h *Hash) Scan(from any) error {
	bytes, ok := from.([]byte)
	if !ok {
		return phrase.Errorf("a hash is stored as %T, expected bytes", from)
	}
	*h = Hash(hex.EncodeToString(bytes))
	return nil
}

// Marked is the letter of a cell of which only a mark is stored, because retention has removed the
// value.
const Marked = '#'

// markSize is the length of a mark in bytes: enough to notice nearly every change of a value (one
// in 65,536 is missed), and so short that many values share a mark and nobody can derive a price
// from it.
const markSize = 2

// Mark returns what is stored of a cell when its value is removed: a mark that is different for
// different values, except for case, blanks around the value and trailing zeros. It is comparable
// only within one column of the row with this key. NULL, and a mark, are returned unchanged.
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

// Marks returns the marks of all values of a row.
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

// Marked reports whether only marks are stored of the values, or nothing.
func (v Values) Marked() bool {
	for _, c := range v {
		if c.Kind != 0 && c.Kind != Marked {
			return false
		}
	}
	return true
}

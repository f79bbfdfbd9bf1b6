package trade

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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
		return nil, fmt.Errorf("the hash %q is not hexadecimal", string(h))
	}
	return bytes, nil
}

// Scan implements [database/sql.Scanner].
func (h *Hash) Scan(from any) error {
	bytes, ok := from.([]byte)
	if !ok {
		return fmt.Errorf("a hash is stored as %T, expected bytes", from)
	}
	*h = Hash(hex.EncodeToString(bytes))
	return nil
}

// ContentNumber returns a number that is equal for two payloads of one kind that are for the same
// business: they have the same values in the fields that the API always requires (chapters 2.1 and
// 2.2). A contract that is typed again with another price, or with a field that was not mapped
// before, has the same number. For a traceability record every field counts, and the order
// commitment in the path (chapter 2.3): the required fields alone do not distinguish records.
// parent is the content number of the parent record and is used instead of its id, because the
// contract may exist under another number, beside an equal one; 0 means unknown, and the id is
// used. The result is never 0. Ledgers store it, so it must never change for a payload.
func ContentNumber(sends Kind, parent int64, target string, payload []byte) int64 {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(payload, &fields) // what is no object has none of the fields
	text := make([]byte, 0, 256)
	for _, rule := range Rules(sends) {
		raw, ok := fields[rule.Field]
		if !ok || sends != Traceability && rule.Need != Always || rule.Parent != "" && parent != 0 {
			continue
		}
		text = append(append(append(append(text, rule.Field...), '='), raw...), 0)
	}
	if len(text) == 0 {
		text = append(text, payload...)
	}
	if parent != 0 {
		target = strconv.FormatInt(parent, 10)
	}
	sum := sha256.Sum256(append(text, target...))
	return int64(binary.BigEndian.Uint64(sum[:])) | 1
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

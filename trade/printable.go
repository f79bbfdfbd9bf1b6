package trade

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// Steers tells whether a character can drive a terminal, or turn the direction in which a line is
// read: a control character (C0, DEL, C1) or one of the bidirectional controls.
func Steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// EscapeJSON writes what steers as \u escapes in a JSON text, which stays the same value.
// encoding/json does it below 0x20 only.
func EscapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, Steers) {
		return text
	}
	var out strings.Builder
	for _, r := range string(text) {
		if r != '\n' && Steers(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}

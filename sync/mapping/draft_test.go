package mapping

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A text without accents is compared as every other is, and takes no buffers: each row has several
// of them. (Not parallel: allocations are counted.)
func TestValuesWithoutAccentsCompareLikeAllOthersAndTakeNoBuffers(t *testing.T) {
	slow := func(text string) string { return cases.Fold().String(norm.NFC.String(strings.TrimSpace(text))) }
	for a := range byte(utf8.RuneSelf) {
		for b := range byte(utf8.RuneSelf) {
			if text := string([]byte{a, b}); Fold(text) != slow(text) {
				t.Fatalf("%q becomes %q, want %q", text, Fold(text), slow(text))
			}
		}
	}
	for text, want := range map[string]string{
		" Sacas\n": "sacas", "AÇÚCAR": "açúcar", "ACU\u0301CAR": "acúcar",
		"Straße": "strasse", "\u212Ag": "kg", "\xffKG": "\xffkg",
	} {
		if got := Fold(text); got != want || got != slow(text) {
			t.Errorf("%q becomes %q, want %q (%q)", text, got, want, slow(text))
		}
	}
	if n := testing.AllocsPerRun(100, func() { Fold(" 00000000 ") }); n != 0 {
		t.Errorf("%v allocations for a text that stays as it is", n)
	}
}

package sync

import (
	"strings"
	"testing"
)

// The lengths that keys and codes may have are counted beside the expression.
func TestHowLongKeysAndCodesMayBe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"message." + strings.Repeat("a", 100): true, "message." + strings.Repeat("a", 101): false, "message.": false, "message.a\n": false} {
		if got := isMessageKey(text); got != want {
			t.Errorf("%.20q of %d: a key %v", text, len(text), got)
		}
	}
	for text, want := range map[string]bool{strings.Repeat("é", 40): true, strings.Repeat("é", 41): false, "": false, "1": false, "A": true, "A_b/c-9 d": true, "A\n": false} {
		if got := isCode(text); got != want {
			t.Errorf("%.20q of %d: a code %v", text, len(text), got)
		}
	}
}

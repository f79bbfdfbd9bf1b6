package outcome

import (
	"strings"
	"testing"
)

// The length that a key may have is counted beside the expression.
func TestHowLongAMessageKeyMayBe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"message." + strings.Repeat("a", 100): true,
		"message." + strings.Repeat("a", 101): false, "message.": false, "message.a\n": false,
	} {
		if got := isMessageKey(text); got != want {
			t.Errorf("%.20q of %d: a key %v", text, len(text), got)
		}
	}
}

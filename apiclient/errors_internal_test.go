package apiclient

import (
	"strings"
	"testing"
)

// The length of a key's parts is counted beside the expression, and their number in it.
func TestHowLongTheKeyOfAMessageMayBe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"message." + strings.Repeat("a", 60): true, "message." + strings.Repeat("a", 61): false,
		"message" + strings.Repeat(".ab", 8): true, "message" + strings.Repeat(".ab", 9): false, "message": false,
		"message.": false, "message..a": false, "message.a\n": false,
	} {
		if got := IsMessageKey(text); got != want {
			t.Errorf("%.30q of %d: a key %v", text, len(text), got)
		}
	}
}

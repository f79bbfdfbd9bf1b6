package sync

import (
	"encoding/json"
	"net/http"
	"testing"
)

// What is kept of a header is what encoding/json makes of it.
func FuzzHeaderOf(f *testing.F) {
	for _, s := range []string{"", "application/json", `a"b\c`, "<&>", "é\u2028", "\xff", "\x7f\x00\n"} {
		f.Add(s, "Date", s)
	}
	f.Fuzz(func(t *testing.T, name, other, value string) {
		h := http.Header{name: {value, other}, other: {}, "X-" + value: {name}}
		want, err := json.Marshal(h)
		if got := headerOf(h); err != nil || string(got) != string(want) {
			t.Errorf("%s, want %s: %v", got, want, err)
		}
	})
}

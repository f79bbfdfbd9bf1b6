package receiver

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

// W2: what a comparison of credentials takes must not tell how near they are. By construction it does not: whatever is given is hashed, and the hashes of both sides are compared in constant time,
// also where the header is not well formed. The figures are those of `go test -bench Authorised -count 10 ./internal/receiver`; what differs between them is the length of what the stranger sent.
func BenchmarkAuthorised(b *testing.B) {
	login := NewLogin()
	stored := sha256.Sum256([]byte(login.Basic()))
	basic := func(text string) []string {
		return []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(text))}
	}
	right := login.Basic()
	other := func(at int) string {
		text := []byte(right)
		text[at] ^= 1
		return string(text)
	}
	for _, c := range []struct {
		name    string
		headers []string
	}{
		{"right", basic(right)},
		{"wrong from the first letter", basic(other(0))},
		{"wrong in the middle", basic(other(len(right) / 2))},
		{"wrong in the last letter", basic(other(len(right) - 1))},
		{"nothing right", basic(strings.Repeat("x", len(right)))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				authorised(c.headers, stored)
			}
		})
	}
}

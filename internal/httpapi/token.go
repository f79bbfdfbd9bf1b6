package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// Token identifies a program that may use the API. Its secret is kept as a hash.
type Token struct {
	Name   string
	hash   [sha256.Size]byte
	scopes []string
}

// NewToken returns a token for the secret that the program sends.
func NewToken(name, secret string, scopes ...string) Token {
	return Token{Name: name, hash: sha256.Sum256([]byte(secret)), scopes: slices.Clone(scopes)}
}

// find returns the index of the token of a request. It compares hashes of equal length with every
// token in constant time, so that its time reveals nothing about any of them.
func find(tokens []Token, r *http.Request) (int, bool) {
	kind, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(shown))
	found := -1
	for i, t := range tokens {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.hash[:]), i, found)
	}
	return found, found >= 0 && strings.EqualFold(kind, "Bearer") && len(r.Header.Values("Authorization")) == 1
}

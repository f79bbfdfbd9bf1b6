package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// Scope is what a token may do.
type Scope string

// The scopes.
const (
	ScopeRun    Scope = "run"    // order a run
	ScopeStatus Scope = "status" // read the status
)

// Scopes are all scopes.
var Scopes = []Scope{ScopeRun, ScopeStatus}

// LeastToken is how many characters a token has at least.
const LeastToken = 32

// Token is a program that may ask. What it shows is kept as a hash.
type Token struct {
	Name   string
	hash   [sha256.Size]byte
	scopes []Scope
}

// NewToken makes a token from what the program shows.
func NewToken(name, secret string, scopes ...Scope) Token {
	return Token{Name: name, hash: sha256.Sum256([]byte(secret)), scopes: slices.Clone(scopes)}
}

// may reports whether the token has a scope.
func (t Token) may(scope Scope) bool { return slices.Contains(t.scopes, scope) }

// find gives the place of the token that a request shows. It compares hashes of equal length with
// every token in constant time, so that its time tells nothing of any of them.
func find(tokens []Token, r *http.Request) (int, bool) {
	kind, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(shown))
	found := -1
	for i, t := range tokens {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.hash[:]), i, found)
	}
	return found, found >= 0 && strings.EqualFold(kind, "Bearer") && len(r.Header.Values("Authorization")) == 1
}

package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/connlimit"
)

const (
	// leastBurst is how many requests may come at once, or those of five seconds if these are more.
	leastBurst = 10
	// mostSenders is how many addresses have their own limit; further ones share one.
	mostSenders = 1024
)

// limits bounds the requests of each token and of each address.
type limits struct {
	rate   rate.Limit
	burst  int
	tokens []*rate.Limiter

	mu      sync.Mutex
	senders map[netip.Prefix]*rate.Limiter
	others  *rate.Limiter
}

func (l *limits) one() *rate.Limiter { return rate.NewLimiter(l.rate, l.burst) }

// sender reports whether the address of a request may send one now.
func (l *limits) sender(r *http.Request, now time.Time) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return l.others.AllowN(now, 1)
	}
	who := connlimit.Sender(at.Addr())
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter, known := l.senders[who]
	if !known {
		if len(l.senders) >= mostSenders { // those with a full budget go: a new one would be the same
			for who, limiter := range l.senders {
				if limiter.TokensAt(now) >= float64(l.burst) {
					delete(l.senders, who)
				}
			}
		}
		if len(l.senders) >= mostSenders {
			return l.others.AllowN(now, 1)
		}
		limiter = l.one()
		l.senders[who] = limiter
	}
	return limiter.AllowN(now, 1)
}

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

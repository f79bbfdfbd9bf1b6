package httpapi

import (
	"net/http"
	"net/netip"
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

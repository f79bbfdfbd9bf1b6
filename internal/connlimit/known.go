package connlimit

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// The senders that are known to a listener.
const (
	beyondPart = 8         // a known sender gets this part of its share in addition
	knownMost  = 32        // at most so many are remembered
	knownFor   = time.Hour // after it was known last, if others need its place
)

// known are the senders that have shown that they are no strangers, and when they did it last.
type known struct {
	mu sync.Mutex
	at map[netip.Prefix]time.Time
}

func (k *known) has(address netip.Addr) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.at[Sender(address)]
	return ok
}

func (k *known) add(address netip.Addr, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil {
		k.at = map[netip.Prefix]time.Time{}
	}
	sender := Sender(address)
	if _, ok := k.at[sender]; !ok && len(k.at) >= knownMost {
		for other, at := range k.at {
			if now.Sub(at) > knownFor {
				delete(k.at, other)
			}
		}
		if len(k.at) >= knownMost {
			return
		}
	}
	k.at[sender] = now
}

type connKey struct{}

// Context is for the ConnContext of an HTTP server on a Listener; then Know works.
func Context(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = secure.NetConn()
	}
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// Know keeps a few places for the sender of a request, which has shown that it is no stranger, so
// that strangers who take all places do not keep it out.
func Know(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.know()
	}
}

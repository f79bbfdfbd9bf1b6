package connlimit

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sender returns the prefix that counts as one sender: an IPv4 address, or the /64 in which an IPv6
// host may choose its own address.
func Sender(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil { // not a valid address: all of these count as one
		return netip.Prefix{}
	}
	return prefix
}

// Key returns the text that stands for a sender; a text that is no address stands for itself.
func Key(address string) string {
	if at, err := netip.ParseAddr(address); err == nil {
		return Sender(at).String()
	}
	return address
}

// Count counts the open connections of each sender. Its zero value is empty.
type Count struct {
	mu sync.Mutex
	by map[netip.Prefix]int
}

// Enter adds a connection of a sender, unless the sender already has most of them; leave removes it
// again.
func (c *Count) Enter(address netip.Addr, most int) (leave func(), ok bool) {
	sender := Sender(address)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[sender] >= most {
		return nil, false
	}
	if c.by == nil {
		c.by = map[netip.Prefix]int{}
	}
	c.by[sender]++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.by[sender]--
		if c.by[sender] == 0 {
			delete(c.by, sender)
		}
	}), true
}

// Listener closes connections beyond its bounds at once. Beyond Most it still accepts a few of this
// host, of shared addresses, and of senders that Know was called for.
type Listener struct {
	net.Listener
	Most, Each int // connections in total, and of one sender
	// Shared, if set, reports whether an address stands for many senders, such as a proxy.
	Shared  func(netip.Addr) bool
	Refused atomic.Int64 // connections that were closed at once
	// OnRefused, if set, is called for each of them.
	OnRefused func()

	open   atomic.Int64
	count  Count
	beyond Count // connections beyond Most
	known  known
}

// Accept returns the next connection within the bounds.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if found := l.let(inner); found != nil {
			return found, nil
		}
		l.Refused.Add(1)
		if l.OnRefused != nil {
			l.OnRefused()
		}
		_ = inner.Close()
	}
}

func (l *Listener) let(inner net.Conn) net.Conn {
	var address netip.Addr
	if at, ok := inner.RemoteAddr().(*net.TCPAddr); ok {
		address = at.AddrPort().Addr().Unmap()
	}
	shared := l.Shared != nil && l.Shared(address)
	leave := func() {}
	if address.IsValid() && !shared {
		var ok bool
		leave, ok = l.count.Enter(address, l.Each)
		if !ok {
			return nil
		}
	}
	free := func() { l.open.Add(-1) }
	if l.open.Add(1) > int64(l.Most) {
		l.open.Add(-1)
		ok := shared || address.IsLoopback() || l.known.has(address)
		if ok {
			free, ok = l.beyond.Enter(address, max(1, l.Each/beyondPart))
		}
		if !ok {
			leave()
			return nil
		}
	}
	return &conn{Conn: inner, leave: sync.OnceFunc(func() {
		leave()
		free()
	}), know: func() { l.known.add(address, time.Now()) }}
}

type conn struct {
	net.Conn
	leave, know func()
}

// Close closes the connection and frees its place, once.
func (c *conn) Close() error {
	c.leave()
	return c.Conn.Close()
}

// Forwarded returns the address that a proxy appended to X-Forwarded-For, with or without a port:
// the last one, as anything before it may be forged. ok is false if there is none.
func Forwarded(header http.Header) (address netip.Addr, ok bool) {
	told := header.Values("X-Forwarded-For")
	if len(told) == 0 {
		return address, false
	}
	last := told[len(told)-1]
	last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	if len(last) > longestAddress {
		return address, false
	}
	if with, err := netip.ParseAddrPort(last); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	if strings.HasPrefix(last, "[") && strings.HasSuffix(last, "]") {
		last = last[1 : len(last)-1]
	}
	address, err := netip.ParseAddr(last)
	return address.Unmap().WithZone(""), err == nil // any text may stand as the zone
}

// longestAddress is the most characters of an address with brackets, zone and port.
const longestAddress = 60

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

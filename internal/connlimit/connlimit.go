package connlimit

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Sender is what counts as one sender: an IPv4 address, or the /64 in which an IPv6 host may choose
// its own.
func Sender(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil { // no address: all of these count as one
		return netip.Prefix{}
	}
	return prefix
}

// Count counts what each sender has open. Its zero value is empty.
type Count struct {
	mu sync.Mutex
	by map[netip.Prefix]int
}

// Enter takes a place of a sender, unless it has so many already; leave gives it back.
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
		if c.by[sender]--; c.by[sender] == 0 {
			delete(c.by, sender)
		}
	}), true
}

// Listener closes at once what is beyond its bounds.
type Listener struct {
	net.Listener
	Most, Each int // connections in all, and of one sender
	// tells of an address behind which there are many senders, such as a proxy; optional
	Shared  func(netip.Addr) bool
	Refused atomic.Int64 // connections that were closed at once

	open  atomic.Int64
	count Count
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
		_ = inner.Close()
	}
}

func (l *Listener) let(inner net.Conn) net.Conn {
	if l.open.Add(1) > int64(l.Most) {
		l.open.Add(-1)
		return nil
	}
	leave := func() {}
	if at, ok := inner.RemoteAddr().(*net.TCPAddr); ok && (l.Shared == nil || !l.Shared(at.AddrPort().Addr().Unmap())) {
		if leave, ok = l.count.Enter(at.AddrPort().Addr(), l.Each); !ok {
			l.open.Add(-1)
			return nil
		}
	}
	return &conn{Conn: inner, leave: sync.OnceFunc(func() {
		leave()
		l.open.Add(-1)
	})}
}

type conn struct {
	net.Conn
	leave func()
}

// Close gives the place back, once.
func (c *conn) Close() error {
	c.leave()
	return c.Conn.Close()
}

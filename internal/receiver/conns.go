package receiver

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// boundListener hands out a bounded number of connections at a time and, without TLS, only those of named addresses.
type boundListener struct {
	net.Listener
	plain   bool
	proxies []netip.Prefix
	open    atomic.Int64

	foreign, overfull atomic.Int64 // connections that were closed at once
}

func newBoundListener(l net.Listener, plain bool, proxies []netip.Prefix) *boundListener {
	return &boundListener{Listener: l, plain: plain, proxies: proxies}
}

// from tells whether an address is that of a proxy; without a list, whether it is this host.
func (l *boundListener) from(at netip.Addr) bool {
	at = at.Unmap()
	if len(l.proxies) == 0 {
		return at.IsLoopback()
	}
	return slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(at) })
}

// Accept gives the next connection that may be served.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at, _ := conn.RemoteAddr().(*net.TCPAddr)
		switch {
		case (l.plain || len(l.proxies) > 0) && (at == nil || !l.from(at.AddrPort().Addr())):
			l.foreign.Add(1)
		case l.open.Add(1) > maxConns:
			l.open.Add(-1)
			l.overfull.Add(1)
		default:
			return &boundConn{Conn: conn, listener: l}, nil
		}
		_ = conn.Close()
	}
}

type boundConn struct {
	net.Conn
	listener *boundListener
	once     sync.Once
}

// Close frees the place of the connection, once.
func (c *boundConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}

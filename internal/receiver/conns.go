package receiver

import (
	"net"
	"net/netip"
	"slices"
)

// boundListener closes connections that do not come from a proxy, if only proxies are allowed.
type boundListener struct {
	net.Listener
	plain   bool
	proxies []netip.Prefix

	refused func() // called for each connection that was closed at once
}

// proxied reports whether only connections from proxies, or from this host, are served.
func (l *boundListener) proxied() bool { return l.plain || len(l.proxies) > 0 }

// from reports whether an address is that of a proxy; without a list of proxies, whether it is this
// host.
func (l *boundListener) from(at netip.Addr) bool {
	at = at.Unmap()
	if len(l.proxies) == 0 {
		return at.IsLoopback()
	}
	return slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(at) })
}

// Accept returns the next connection that may be served.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at, _ := conn.RemoteAddr().(*net.TCPAddr)
		if !l.proxied() || at != nil && l.from(at.AddrPort().Addr()) {
			return conn, nil
		}
		l.refused()
		_ = conn.Close()
	}
}

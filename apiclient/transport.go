package apiclient

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

const (
	dialTimeout      = 15 * time.Second
	handshakeTimeout = 15 * time.Second
	// idleTimeout is short on purpose. A POST written to a connection that the server is just
	// closing is lost without an answer, and the row is in doubt. Within a burst connections are
	// reused; after a pause a new one is opened. One second is far below the keep-alive time of the
	// usual servers (5 s and more).
	idleTimeout    = time.Second
	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 1 << 20
)

// dialer opens the connections of one client.
type dialer struct {
	net.Dialer
	tls *tls.Config
	// loopbackOnly is set for http://: the name "localhost" must not resolve to another host.
	loopbackOnly bool
	// ends is when the certificate of the last handshake expires, in Unix seconds; 0 before the
	// first.
	ends atomic.Int64
	// closing ends dials that are in progress when the client is closed.
	closing context.Context
	// idleMost is how long a connection may be idle between two requests.
	idleMost time.Duration
	// proxy is the proxy through which all connections go; nil means none.
	proxy *url.URL
	// instead opens connections in place of TCP; nil means TCP.
	instead func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return newTrackedConn(c, d.idleMost), nil
}

func (d *dialer) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.closing, cancel)()
	open := d.DialContext
	if d.instead != nil {
		open = d.instead
	}
	if d.proxy != nil {
		// A tunnel by CONNECT carries TLS with the host itself, so the proxy sees neither key nor record. One
		// that does not come about is proof that no byte of a request has left.
		raw, err := open(ctx, "tcp", d.proxy.Host)
		if err != nil {
			return nil, &proxyError{proxy: d.proxy.Host, target: addr, err: err}
		}
		_ = raw.SetDeadline(time.Now().Add(dialTimeout)) // a connection that has ended fails below
		stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
		c := raw
		if d.proxy.Scheme == "https" {
			c = tls.Client(raw, &tls.Config{
				ServerName: d.proxy.Hostname(), RootCAs: d.tls.RootCAs, MinVersion: tls.VersionTLS12,
			})
		}
		status, err := connectThrough(c, d.proxy.User, addr)
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil || status != http.StatusOK {
			_ = c.Close()
			return nil, &proxyError{proxy: d.proxy.Host, target: addr, status: status, err: err}
		}
		_ = c.SetDeadline(time.Time{})
		return c, nil
	}
	c, err := open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); d.loopbackOnly && (!ok || !a.IP.IsLoopback()) {
		_ = c.Close()
		return nil, &dialRefusedError{phrase.New(
			"%s is not on this host; http:// is accepted for loopback only, use https:// in api.base_url", addr)}
	}
	return c, nil
}

// dialTLS does the handshake itself, so that the connection above TLS can be wrapped. The wrapper
// then counts and stops plain bytes of requests, not TLS records.
func (d *dialer) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := d.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	// The connection may end up with another request, so only the phase of the dial is recorded.
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	e.reach(PhaseTLS)
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	defer context.AfterFunc(d.closing, cancel)()
	c := tls.Client(raw, d.tls)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &handshakeError{host: d.tls.ServerName, err: err}
	}
	if shown := c.ConnectionState().PeerCertificates; len(shown) > 0 {
		d.ends.Store(shown[0].NotAfter.Unix())
	}
	return newTrackedConn(c, d.idleMost), nil
}

// dialRefusedError is returned when http:// would connect to another host.
type dialRefusedError struct{ *phrase.Text }

package dialect

import (
	"context"
	"net"
	"sync"
	"time"
)

// GuardDialer opens connections for lib/pq that cannot hang. If the server or the network goes
// silent, lib/pq waits forever, beyond its context: it sends a cancel request and then continues to
// read. Therefore every read and write has a deadline of its own, a little longer than the
// statement may take.
type GuardDialer struct {
	net     net.Dialer
	silence time.Duration
}

// NewGuardDialer returns a dialer that waits for a silent server a little longer than a statement
// may take.
func NewGuardDialer(statementTimeout time.Duration) GuardDialer {
	return GuardDialer{
		net: net.Dialer{
			Timeout: ConnectTimeout,
			KeepAliveConfig: net.KeepAliveConfig{
				Enable: true, Idle: 15 * time.Second,
				Interval: 5 * time.Second, Count: 3,
			},
			Control: limitUnacknowledged,
		},
		silence: statementTimeout + 15*time.Second,
	}
}

// unacknowledged is how long the peer's system may leave data unacknowledged.
const unacknowledged = 20 * time.Second

// Dial implements pq.Dialer.
func (d GuardDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer.
func (d GuardDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext implements pq.DialerContext.
func (d GuardDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &guardedConn{Conn: c, silence: d.silence}, nil
}

// guardedConn ends a read or write that makes no progress.
type guardedConn struct {
	net.Conn
	silence time.Duration

	mu    sync.Mutex
	fixed time.Time // set by lib/pq for the start-up; the earlier deadline applies
}

func (c *guardedConn) limit() time.Time {
	t := time.Now().Add(c.silence)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fixed.IsZero() && c.fixed.Before(t) {
		return c.fixed
	}
	return t
}

// Read reads with a deadline.
func (c *guardedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(c.limit()); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write writes with a deadline.
func (c *guardedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(c.limit()); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// SetDeadline stores lib/pq's own deadline, which Read would otherwise replace.
func (c *guardedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	c.fixed = t
	c.mu.Unlock()
	return c.Conn.SetDeadline(t)
}

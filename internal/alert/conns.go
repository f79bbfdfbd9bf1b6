package alert

import (
	"net"
	"sync"
)

// conns are the connections of one delivery, so that its end closes them in any case.
type conns struct {
	mu     sync.Mutex // guards both
	open   []net.Conn
	closed bool
}

// track stores the connection of a successful dial, and passes the result on.
func (c *conns) track(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	c.open = append(c.open, conn)
	return conn, nil
}

func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.open {
		_ = conn.Close() // it may be closed already
	}
	c.open = nil
}

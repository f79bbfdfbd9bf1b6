package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/phrase"
)

// A server that is frozen, with or without its machine, does not answer, and closes no connection; its
// kernel may even acknowledge what it gets. Nothing that it holds tells it from one that is slow. So
// when an answer fails to come for Tuning.Quiet, the server is asked for a new connection, and for a
// second one if it does not take that within connect_timeout. If it takes neither, and nothing is read
// from it on any connection meanwhile, it is given up: all connections to it are closed at once, and
// new ones go to the other servers of the DSN first. A slow server takes one of the two, and is waited
// for.
//
// So a frozen server is left after Quiet and twice connect_timeout. No statement on another server is
// ended, unless that took no connection and said nothing for twice connect_timeout: a connection that is
// lost on its way, or a login that stalls, only has the server asked last.

// servers are the servers of a DSN, for one pool.
type servers struct {
	cfg      pq.Config
	patience time.Duration // of one read; 0 = as long as the server takes connections
	quiet    time.Duration
	session  string // see sessionSettings

	mu    sync.Mutex
	known map[string]*server // by address
}

// server is one of them, with the connections to it.
type server struct {
	of *servers

	mu     sync.Mutex
	conns  map[*deadlineConn]struct{} // that have begun
	heard  time.Time                  // when something was last read from it
	silent time.Time                  // when it last took no connection

	asking atomic.Bool
}

// askedLast is for how long a server that took no connection comes after the others.
const askedLast = time.Minute

// Connect opens a connection to the first server that serves.
func (s *servers) Connect(ctx context.Context) (driver.Conn, error) {
	// servers that took no connection come last
	cfg := s.cfg
	all := append([]pq.ConfigMultihost{{Host: cfg.Host, Hostaddr: cfg.Hostaddr, Port: cfg.Port}}, cfg.Multi...)
	order := func(m pq.ConfigMultihost) int {
		host := m.Host
		if m.Hostaddr.IsValid() {
			host = m.Hostaddr.String()
		}
		if v := s.at(net.JoinHostPort(host, strconv.Itoa(int(m.Port)))); v.isSilent() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b pq.ConfigMultihost) int { return order(a) - order(b) })
	cfg.Host, cfg.Hostaddr, cfg.Port, cfg.Multi = all[0].Host, all[0].Hostaddr, all[0].Port, all[1:]
	connector, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, err
	}
	connector.Dialer(s)
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, s.session, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver returns the driver.
func (s *servers) Driver() driver.Driver { return &pq.Driver{} }

func (s *servers) at(address string) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.known[address]
	if v == nil {
		v = &server{of: s, conns: map[*deadlineConn]struct{}{}}
		s.known[address] = v
	}
	return v
}

// Dial opens a connection with the default time-out.
func (s *servers) Dial(network, address string) (net.Conn, error) {
	return s.DialTimeout(network, address, connectTimeout)
}

// DialTimeout opens a connection within a time limit.
func (s *servers) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return s.DialContext(ctx, network, address)
}

// DialContext opens a connection, unless the context ends first.
func (s *servers) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	v, began := s.at(address), time.Now()
	alive := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control:         BoundUnacknowledged,
	}
	conn, err := alive.DialContext(ctx, network, address)
	if err != nil {
		// A caller who gave up sooner has not shown anything. A slow look-up of the name counts: it costs
		// as much.
		if isTimedOut(err) && time.Since(began) > s.cfg.ConnectTimeout/2 {
			v.missed(began, false)
		}
		return nil, err
	}
	return &deadlineConn{Conn: conn, server: v, began: began}, nil
}

func isTimedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// sslRequest asks a server whether it speaks TLS. Its answer is one byte, before any login.
var sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47}

// missed has a server asked last that has not taken a connection, unless it has said something since
// that one began. One that is given up loses all connections that have begun; the others have their
// time limit.
func (v *server) missed(began time.Time, givenUp bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.heard.After(began) {
		return
	}
	v.silent = time.Now()
	if !givenUp {
		return
	}
	for c := range v.conns {
		c.givenUp.Store(true)
		_ = c.Conn.Close() // what was written is in the kernel's hands
	}
}

// isSilent reports whether the server is to be asked last.
func (v *server) isSilent() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.silent.After(v.heard) && time.Since(v.silent) < askedLast
}

// deadlineConn is a connection to a server that may fall silent: lib/pq itself would wait for an answer
// forever, whatever the context.
type deadlineConn struct {
	net.Conn
	server  *server
	began   time.Time // when it was asked for
	until   time.Time // the limit of its start, which lib/pq sets before it reads
	givenUp atomic.Bool
}

var errSilent = phrase.Errorf("the server answers neither this nor a new connection")

// SetDeadline limits the connection's start; a zero time ends that. lib/pq drops some connections in
// their start without closing them: nothing may hold those.
func (c *deadlineConn) SetDeadline(until time.Time) error {
	c.until = until
	if until.IsZero() {
		c.server.mu.Lock()
		c.server.conns[c] = struct{}{}
		c.server.mu.Unlock()
	}
	return c.Conn.SetDeadline(until)
}

// Close closes the connection.
func (c *deadlineConn) Close() error {
	c.server.mu.Lock()
	delete(c.server.conns, c)
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// Read reads within the connection's time limit, unless the server is given up before.
func (c *deadlineConn) Read(p []byte) (int, error) {
	v, began := c.server, time.Now()
	for {
		end := c.until
		if end.IsZero() && v.of.patience > 0 {
			end = began.Add(v.of.patience)
		}
		look := time.Now().Add(v.of.quiet)
		if !c.until.IsZero() || !end.IsZero() && end.Before(look) {
			look = end
		}
		err := c.SetReadDeadline(look)
		n := 0
		if err == nil {
			n, err = c.Conn.Read(p)
		}
		switch {
		case n > 0:
			v.mu.Lock()
			v.heard = time.Now()
			v.mu.Unlock()
			return n, err
		case c.givenUp.Load():
			return 0, &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: errSilent}
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case look.Equal(end):
			if !c.until.IsZero() { // its kernel has accepted the connection
				v.missed(c.began, false)
			}
			return n, err
		}
		// Asks whether the server still takes connections, and gives it up if not, without waiting for
		// that: an answer may come meanwhile.
		at := c.RemoteAddr()
		if v.asking.Swap(true) {
			continue
		}
		go func() {
			defer v.asking.Store(false)
			began := time.Now()
			for range 2 {
				until := time.Now().Add(v.of.cfg.ConnectTimeout)
				conn, err := (&net.Dialer{Deadline: until}).Dial(at.Network(), at.String())
				if err == nil {
					err = conn.SetDeadline(until)
					if err == nil {
						_, err = conn.Write(sslRequest)
					}
					if err == nil {
						_, err = conn.Read(make([]byte, 1))
					}
					_ = conn.Close() // it has served
				}
				if !isTimedOut(err) { // a refusal is an answer
					return
				}
			}
			v.missed(began, true)
		}()
	}
}

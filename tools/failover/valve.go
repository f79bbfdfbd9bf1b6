package failover

import (
	"net"
	"sync"
	"testing"
)

// valve forwards connections to a server. While it is shut, everything is held back, as on a network
// that loses packets: nobody is refused, and nobody learns of an end.
type valve struct {
	port  int
	to    string
	ended chan struct{}
	wait  sync.WaitGroup

	mu    sync.Mutex
	open  chan struct{} // closed while the valve is open
	conns map[net.Conn]struct{}
}

func newValve(t testing.TB, to string) *valve {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{
		port: l.Addr().(*net.TCPAddr).Port, to: to, ended: make(chan struct{}), open: make(chan struct{}),
		conns: map[net.Conn]struct{}{},
	}
	close(v.open)
	v.wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v.wait.Go(func() { v.carry(c) })
		}
	})
	t.Cleanup(func() {
		close(v.ended)
		_ = l.Close() // nothing can be done about it
		v.mu.Lock()
		for c := range v.conns {
			_ = c.Close()
		}
		v.mu.Unlock()
		v.wait.Wait()
	})
	return v
}

// set opens or shuts the valve.
func (v *valve) set(open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.open:
		if !open {
			v.open = make(chan struct{})
		}
	default:
		if open {
			close(v.open)
		}
	}
}

// lose ends all connections, and what was held back is lost.
func (v *valve) lose() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for c := range v.conns {
		_ = c.Close()
	}
}

// passes waits until the valve is open. It returns false at the end of the test.
func (v *valve) passes() bool {
	v.mu.Lock()
	open := v.open
	v.mu.Unlock()
	select {
	case <-open:
		return true
	case <-v.ended:
		return false
	}
}

func (v *valve) keep(c net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.ended:
		_ = c.Close()
		return false
	default:
		v.conns[c] = struct{}{}
		return true
	}
}

func (v *valve) drop(c net.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = c.Close()
	delete(v.conns, c)
}

func (v *valve) carry(c net.Conn) {
	if !v.keep(c) {
		return
	}
	defer v.drop(c)
	if !v.passes() {
		return
	}
	s, err := net.Dial("tcp4", v.to)
	if err != nil || !v.keep(s) {
		return
	}
	defer v.drop(s)
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{c, s}, {s, c}} {
		v.wait.Go(func() {
			v.pass(pair[0], pair[1])
			done <- struct{}{}
		})
	}
	<-done
}

// pass copies until either end closes.
func (v *valve) pass(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !v.passes() {
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

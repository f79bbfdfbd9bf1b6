package rack

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// proxy is between the program and the platform and cuts one connection in six. It cuts after some
// byte of a request or of an answer, with an end of file or a reset, or holds the connection until
// the time-out.
type proxy struct {
	url      string
	target   string
	listener net.Listener
	quiet    atomic.Bool
	wait     sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	open   map[net.Conn]struct{}
	closed bool
}

func newProxy(target string, seed uint64) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{
		url: "http://" + listener.Addr().String(), target: strings.TrimPrefix(target, "http://"), listener: listener,
		random: rand.New(rand.NewPCG(seed, 2)), open: map[net.Conn]struct{}{},
	}
	p.wait.Go(p.serve)
	return p, nil
}

func (p *proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.keep(c) {
			p.wait.Go(func() { p.carry(c) })
		}
	}
}

// fate is what happens to one connection: nothing, or a cut after a number of bytes of the requests
// or of the answers.
type fate struct {
	request, answer int64 // bytes that pass; -1 means all
	reset           bool
	hold            time.Duration // before the cut
}

func (p *proxy) draw() fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := fate{request: -1, answer: -1, reset: p.random.IntN(2) == 0}
	if p.quiet.Load() {
		return f
	}
	switch p.random.IntN(18) {
	case 0:
		f.request = p.random.Int64N(1200)
	case 1:
		f.answer = p.random.Int64N(900)
	case 2:
		f.request, f.hold = p.random.Int64N(6000), requestTimeout+time.Second/2
	}
	return f
}

func (p *proxy) carry(c net.Conn) {
	defer p.drop(c)
	s, err := net.Dial("tcp", p.target)
	if err != nil || !p.keep(s) {
		return
	}
	defer p.drop(s)
	f := p.draw()
	done := make(chan bool, 2)
	go func() { done <- pass(s, c, f.request) }()
	go func() { done <- pass(c, s, f.answer) }()
	if cut := <-done; cut {
		time.Sleep(f.hold)
		if f.reset {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		return // both ends close; what was executed stays executed
	}
	<-done
}

// pass copies at most limit bytes and reports whether it stopped at the limit; at the end of the
// input it closes the other side for writing.
func pass(to, from net.Conn, limit int64) (cut bool) {
	if limit < 0 {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
		return false
	}
	n, _ := io.CopyN(to, from, limit)
	if n == limit {
		return true
	}
	_ = to.(*net.TCPConn).CloseWrite()
	return false
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.open[c] = struct{}{}
	return true
}

func (p *proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *proxy) calm() { p.quiet.Store(true) }

func (p *proxy) close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
	return err
}

package sync_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	gosync "sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// pipeNet joins the client and the sandbox without TCP, so that both can live on the clock of a
// testing/synctest bubble, which does not move on while something waits for a real network. HTTP,
// its connections and their deadlines are real.
type pipeNet struct {
	conns  chan net.Conn
	closed chan struct{}
	once   gosync.Once

	mu   gosync.Mutex
	down bool // connections are refused
}

var errRefused = errors.New("connection refused")

func (p *pipeNet) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

func (p *pipeNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.mu.Lock()
	down := p.down
	p.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
	}
	ours, theirs := net.Pipe()
	select {
	case p.conns <- pipeConn{theirs}:
		return pipeConn{ours}, nil
	case <-p.closed:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr make it a listener.
func (p *pipeNet) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeNet) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipeNet) Addr() net.Addr { return loopback }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}

// pipeConn has addresses, which the client looks at.
type pipeConn struct{ net.Conn }

func (pipeConn) LocalAddr() net.Addr { return loopback }

func (pipeConn) RemoteAddr() net.Addr { return loopback }

// serve starts a sandbox on pipes.
func (p *pipeNet) serve(t testing.TB, opts sandbox.Options) *sandbox.Running {
	t.Helper()
	api := &sandbox.Running{Server: sandbox.New(opts), URL: "http://127.0.0.1"}
	server := &http.Server{Handler: api.Server, ReadHeaderTimeout: 0}
	done := make(chan error, 1)
	go func() { done <- server.Serve(p) }()
	t.Cleanup(func() {
		api.Server.Close()
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return api
}
